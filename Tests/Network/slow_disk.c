// Preloaded into a process under test: each fsync and fdatasync takes two seconds more while the file named
// by SLOW_DISK is there, as a card does now and then.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void stall(void) {
    const char *path = getenv("SLOW_DISK");
    if (path && access(path, F_OK) == 0) usleep(2000000);
}

int fsync(int file) {
    stall();
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}

int fdatasync(int file) {
    stall();
    return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(file);
}
