/* Clock shim: the wall clock of this process runs ahead of the machine's by a number of microseconds that
 * the test changes while it runs. Monotonic clocks are left alone, as a clock step leaves them alone.
 *
 * Nothing here allocates or looks up symbols, so it is safe before an allocator such as jemalloc is up. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include "live.h"

enum { MICROS = 1000000, NANOS_PER_MICRO = 1000 };

static const volatile int64_t *offset;

__attribute__((constructor)) static void start(void) { offset = live_number("RS_SHIM_CLOCK"); }

/* The kernel's time in microseconds, moved; `nanos` gets what is finer than that. */
static int64_t moved(const struct timespec *real, long *nanos) {
    *nanos = real->tv_nsec % NANOS_PER_MICRO;
    return (int64_t)real->tv_sec * MICROS + real->tv_nsec / NANOS_PER_MICRO + (offset ? *offset : 0);
}

int clock_gettime(clockid_t id, struct timespec *out) {
    int failed = (int)syscall(SYS_clock_gettime, id, out);
    long nanos;
    int64_t micros;

    if (failed || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE))
        return failed;
    micros = moved(out, &nanos);
    out->tv_sec = micros / MICROS;
    out->tv_nsec = micros % MICROS * NANOS_PER_MICRO + nanos;
    return 0;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone) {
    struct timespec now;

    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now))
        return -1;
    out->tv_sec = now.tv_sec;
    out->tv_usec = now.tv_nsec / NANOS_PER_MICRO;
    return 0;
}

time_t time(time_t *out) {
    struct timespec now;

    if (clock_gettime(CLOCK_REALTIME, &now))
        return -1;
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
