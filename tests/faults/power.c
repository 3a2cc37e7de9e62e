/* Power-cut shim: beside each file that is synced, `<file>.synced` keeps how many bytes of it a power cut
 * could not take. The delay, in microseconds and changed by the test at any time, makes a slow disk.
 *
 * The size is taken before the sync and recorded after it: bytes written meanwhile are not covered, and a
 * sync that has not returned has promised nothing. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "live.h"

enum { MICROS = 1000000, NANOS_PER_MICRO = 1000, PATH_BYTES = 4096 };

static const volatile int64_t *delay;

__attribute__((constructor)) static void start(void) { delay = live_number("RS_SHIM_POWER"); }

static void dawdle(void) {
    int64_t micros = *delay;
    struct timespec rest = {micros / MICROS, micros % MICROS * NANOS_PER_MICRO};

    while (nanosleep(&rest, &rest) != 0)
        continue;
}

static void record(int fd, int64_t size) {
    char link[32], path[PATH_BYTES];
    ssize_t length;
    int out;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, path, sizeof path - sizeof ".synced");
    if (length <= 0)
        return;
    memcpy(path + length, ".synced", sizeof ".synced");
    out = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (out < 0)
        return;
    /* What could not be recorded counts as lost. */
    if (pwrite(out, &size, sizeof size, 0) != sizeof size)
        (void)ftruncate(out, 0);
    close(out);
}

static int synced(long call, int fd) {
    struct stat before;
    int regular = delay != NULL && fstat(fd, &before) == 0 && S_ISREG(before.st_mode);
    int failed;

    if (delay != NULL)
        dawdle();
    failed = (int)syscall(call, fd);
    if (!failed && regular)
        record(fd, before.st_size);
    return failed;
}

int fsync(int fd) { return synced(SYS_fsync, fd); }

int fdatasync(int fd) { return synced(SYS_fdatasync, fd); }
