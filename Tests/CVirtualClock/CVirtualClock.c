#define _GNU_SOURCE
#include "CVirtualClock.h"
#include <malloc.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

// OpenSSL keeps its DTLS timers by gettimeofday. This definition in the test bundle stands before
// libc's. The virtual time belongs to one thread, so that tests beside it see the true time.
static _Thread_local int64_t virtual_microseconds = 0;

void virtual_clock_set(int64_t microseconds) { virtual_microseconds = microseconds; }

__attribute__((visibility("default")))
int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    if (virtual_microseconds != 0) {
        time->tv_sec = virtual_microseconds / 1000000;
        time->tv_usec = virtual_microseconds % 1000000;
        return 0;
    }
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

int64_t heap_bytes_in_use(void) {
    struct mallinfo2 info = mallinfo2();
    return (int64_t)(info.uordblks + info.hblkhd);
}
