#define _GNU_SOURCE
#include "CFaultyDisk.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <unistd.h>

static _Thread_local bool is_armed = false;
static _Thread_local int32_t failing_call = -1;
static _Thread_local int32_t failure = 0;
static _Thread_local int32_t calls = 0;

static bool fails(void) {
    if (!is_armed) return false;
    bool result = calls == failing_call;
    calls += 1;
    if (result) errno = failure;
    return result;
}

static ssize_t faulty_write(int file, const void *bytes, size_t count) {
    return fails() ? -1 : write(file, bytes, count);
}

static ssize_t faulty_pwrite(int file, const void *bytes, size_t count, off_t offset) {
    return fails() ? -1 : pwrite(file, bytes, count, offset);
}

static int faulty_ftruncate(int file, off_t length) { return fails() ? -1 : ftruncate(file, length); }

static int faulty_unlink(const char *path) { return fails() ? -1 : unlink(path); }

// SQLite offers no seam for these two; the definitions in the test bundle stand before libc's.
__attribute__((visibility("default")))
int fsync(int file) { return fails() ? -1 : ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file); }

__attribute__((visibility("default")))
int fdatasync(int file) { return fails() ? -1 : ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(file); }

static void install(void) {
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    system->xSetSystemCall(system, "write", (sqlite3_syscall_ptr)faulty_write);
    system->xSetSystemCall(system, "pwrite", (sqlite3_syscall_ptr)faulty_pwrite);
    system->xSetSystemCall(system, "pwrite64", (sqlite3_syscall_ptr)faulty_pwrite);
    system->xSetSystemCall(system, "ftruncate", (sqlite3_syscall_ptr)faulty_ftruncate);
    system->xSetSystemCall(system, "unlink", (sqlite3_syscall_ptr)faulty_unlink);
}

void faulty_disk_arm(int32_t call, int32_t error) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    failing_call = call;
    failure = error;
    calls = 0;
    is_armed = true;
}

int32_t faulty_disk_disarm(void) {
    is_armed = false;
    return calls;
}
