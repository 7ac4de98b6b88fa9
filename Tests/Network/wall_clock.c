// Preloaded into a process under test: its wall clock is off by as many seconds as the 8 bytes in the
// file named by WALL_CLOCK_OFFSET say, at every moment anew, so that it can jump while the process runs. With
// WALL_CLOCK_KEPT the kernel says that a time service keeps it, as adjtimex(2) does where one is.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

static int64_t offset(void) {
    static volatile int64_t *shared;
    if (!shared) {
        const char *path = getenv("WALL_CLOCK_OFFSET");
        int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        if (file < 0) return 0;
        void *page = mmap(NULL, sizeof *shared, PROT_READ, MAP_SHARED, file, 0);
        close(file);
        if (page == MAP_FAILED) return 0;
        shared = page;
    }
    return *shared;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*original)(clockid_t, struct timespec *);
    if (!original) original = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = original(clock, time);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += offset();
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

// How Rivulet calls adjtimex (Sources/CLinux/shim.h).
long syscall(long number, ...) {
    static long (*original)(long, ...);
    if (!original) original = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    long word[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) word[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_adjtimex && getenv("WALL_CLOCK_KEPT")) {
        struct timex *clock = (struct timex *)word[0];
        memset(clock, 0, sizeof *clock);
        return TIME_OK;
    }
    return original(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}
