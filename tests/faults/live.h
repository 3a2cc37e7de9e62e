/* A number that the test changes while the process runs: eight bytes of a file, mapped and shared. */
#ifndef REDISCHED_LIVE_H
#define REDISCHED_LIVE_H

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The number behind the file that `variable` names, or NULL where the variable is not set. A process that
 * was to be shimmed and cannot be must not run: its test would pass without having tested anything. */
static const volatile int64_t *live_number(const char *variable) {
    static const char complaint[] = ": shim: cannot map the file that this variable names\n";
    const char *path = getenv(variable);
    void *page = MAP_FAILED;
    int fd;

    if (path == NULL)
        return NULL;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        page = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
        close(fd);
    }
    if (page == MAP_FAILED) {
        if (write(2, variable, strlen(variable)) < 0 || write(2, complaint, sizeof complaint - 1) < 0)
            _exit(112);
        _exit(111);
    }
    return page;
}

#endif
