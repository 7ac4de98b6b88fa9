// Preloaded into a process under test: the kernel says that a time service keeps its clock.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timex.h>

long syscall(long number, ...) {
    static long (*original)(long, ...);
    if (!original) original = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    va_list list;
    va_start(list, number);
    long a[6];
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_adjtimex) {
        struct timex *clock = (struct timex *)a[0];
        memset(clock, 0, sizeof *clock);
        clock->maxerror = 1000;
        clock->esterror = 100;
        clock->status = STA_PLL;
        return TIME_OK;
    }
    return original(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
