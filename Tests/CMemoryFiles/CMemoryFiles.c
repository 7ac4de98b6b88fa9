/* A file system in memory for the fuzzers of what reads /sys and /proc: it stands in for the calls
 * of the C library below, for paths in the folder that `FileTree` makes, and leaves all others to
 * the kernel. Without system calls a target runs tens of times as often; the tests replay
 * the same inputs with the kernel's files. In C, so that the fuzzer's counters are not in it: it
 * is no part of what is tested.
 *
 * One tree at a time: `mkdtemp` begins an empty one. One thread. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NODES_MAX = 4096, FILES_MAX = 64, FOLDERS_MAX = 8, LINKS_MAX = 40, FIRST_FILE = 1 << 20 };
enum kind { FOLDER, PLAIN, LINK };

struct node {
    enum kind kind;
    struct node *parent, *child, *next;
    const char *name, *text;
    size_t name_count, count;
};

static const char prefix[] = "/dev/shm/rivulet-fuzz-XXXXXX";
static struct node nodes[NODES_MAX];
static size_t node_count, byte_count;
static char bytes[8 << 20];
static struct { struct node *node; size_t offset; } files[FILES_MAX];
static struct folder { struct node *node, *next; int dots; struct dirent entry; }
    folders[FOLDERS_MAX];

/* What follows the root; NULL for a path of the kernel's. */
static const char *inside(const char *path) {
    size_t count = sizeof prefix - 1;
    if (strncmp(path, prefix, count) != 0) return NULL;
    return path[count] == 0 || path[count] == '/' ? path + count : NULL;
}

static char *keep(const char *text, size_t count) {
    if (count > sizeof bytes - byte_count) return NULL;
    char *place = bytes + byte_count;
    if (count > 0) memcpy(place, text, count);
    byte_count += count;
    return place;
}

static struct node *child(struct node *folder, const char *name, size_t count) {
    for (struct node *node = folder->child; node; node = node->next)
        if (node->name_count == count && memcmp(node->name, name, count) == 0) return node;
    return NULL;
}

/* The node that `count` bytes of a path below the root lead to; NULL and errno if to none. */
static struct node *walk(const char *path, size_t count, int follow, int *links) {
    struct node *node = nodes;
    const char *end = path + count;
    if (count >= PATH_MAX) { errno = ENAMETOOLONG; return NULL; }
    while (path < end) {
        if (*path == '/') {
            path++;
            if (node->kind != FOLDER) { errno = ENOTDIR; return NULL; }
            continue;
        }
        const char *slash = memchr(path, '/', end - path);
        size_t length = (slash ? slash : end) - path;
        struct node *next = node;
        if (length == 2 && path[0] == '.' && path[1] == '.') {
            if (node->parent) next = node->parent;
        } else if (length != 1 || path[0] != '.') {
            if (length > NAME_MAX) { errno = ENAMETOOLONG; return NULL; }
            next = child(node, path, length);
        }
        if (!next) { errno = ENOENT; return NULL; }
        path += length;
        if (next->kind == LINK && (follow || path < end)) {
            if (++*links > LINKS_MAX) { errno = ELOOP; return NULL; }
            const char *target = next->text + sizeof prefix - 1;
            next = walk(target, next->count - (sizeof prefix - 1), 1, links);
            if (!next) return NULL;
        }
        node = next;
    }
    return node;
}

static struct node *find(const char *path, int follow) {
    int links = 0;
    return walk(path, strlen(path), follow, &links);
}

/* A new node at a path where nothing is yet. */
static struct node *make(const char *path, enum kind kind) {
    const char *name = strrchr(path, '/');
    if (!name || !name[1]) { errno = EEXIST; return NULL; }
    int links = 0;
    struct node *folder = walk(path, name - path, 1, &links);
    if (!folder) return NULL;
    if (folder->kind != FOLDER) { errno = ENOTDIR; return NULL; }
    size_t count = strlen(++name);
    if (count > NAME_MAX) { errno = ENAMETOOLONG; return NULL; }
    if (child(folder, name, count)) { errno = EEXIST; return NULL; }
    char *kept = keep(name, count);
    if (!kept || node_count == NODES_MAX) { errno = ENOSPC; return NULL; }
    struct node *node = &nodes[node_count++];
    *node = (struct node){.kind = kind, .parent = folder, .next = folder->child, .name = kept,
                          .name_count = count};
    folder->child = node;
    return node;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* MARK: The tree */

char *mkdtemp(char *path) {
    if (strcmp(path, prefix) != 0) return NEXT(mkdtemp)(path);
    for (int index = 0; index < FILES_MAX; index++)
        if (files[index].node) { fprintf(stderr, "a file was never closed\n"); abort(); }
    for (int index = 0; index < FOLDERS_MAX; index++)
        if (folders[index].node) { fprintf(stderr, "a folder was never closed\n"); abort(); }
    node_count = 1;
    byte_count = 0;
    nodes[0] = (struct node){.kind = FOLDER};
    return path;
}

int mkdir(const char *path, mode_t mode) {
    const char *inner = inside(path);
    if (!inner) return syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    return make(inner, FOLDER) ? 0 : -1;
}

/* Targets are paths in the tree, from its root on. */
int symlink(const char *target, const char *path) {
    const char *inner = inside(path);
    if (!inner) return syscall(SYS_symlinkat, target, AT_FDCWD, path);
    struct node *node = make(inner, LINK);
    if (!node) return -1;
    node->count = strlen(target);
    node->text = keep(target, node->count);
    if (!inside(target) || !node->text) abort();
    return 0;
}

/* The next tree begins empty. */
int remove(const char *path) { return inside(path) ? 0 : NEXT(remove)(path); }

int rmdir(const char *path) {
    return inside(path) ? 0 : syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

int access(const char *path, int mode) {
    const char *inner = inside(path);
    if (!inner) return syscall(SYS_faccessat, AT_FDCWD, path, mode);
    return find(inner, 1) ? 0 : -1;
}

ssize_t readlink(const char *path, char *buffer, size_t count) {
    const char *inner = inside(path);
    if (!inner) return syscall(SYS_readlinkat, AT_FDCWD, path, buffer, count);
    struct node *node = find(inner, 0);
    if (!node) return -1;
    if (node->kind != LINK) { errno = EINVAL; return -1; }
    if (count > node->count) count = node->count;
    memcpy(buffer, node->text, count);
    return count;
}

char *realpath(const char *path, char *buffer) {
    const char *inner = inside(path);
    if (!inner) return NEXT(realpath)(path, buffer);
    struct node *node = find(inner, 1);
    if (!node) return NULL;
    char text[PATH_MAX], *start = text + sizeof text;
    *--start = 0;
    for (; node->parent; node = node->parent) {
        if (start - text < (long)(node->name_count + sizeof prefix)) {
            errno = ENAMETOOLONG;
            return NULL;
        }
        start -= node->name_count;
        memcpy(start, node->name, node->name_count);
        *--start = '/';
    }
    start -= sizeof prefix - 1;
    memcpy(start, prefix, sizeof prefix - 1);
    return buffer ? strcpy(buffer, start) : strdup(start);
}

/* MARK: Files */

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    const char *inner = inside(path);
    if (!inner) return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    struct node *node = find(inner, !(flags & O_NOFOLLOW));
    if (!node && errno == ENOENT && flags & O_CREAT) node = make(inner, PLAIN);
    if (!node) return -1;
    if (node->kind == LINK) { errno = ELOOP; return -1; }
    if (node->kind == FOLDER && flags & (O_WRONLY | O_RDWR)) { errno = EISDIR; return -1; }
    for (int index = 0; index < FILES_MAX; index++) {
        if (files[index].node) continue;
        if (flags & O_TRUNC) node->count = 0;
        files[index].node = node;
        files[index].offset = 0;
        return FIRST_FILE + index;
    }
    errno = EMFILE;
    return -1;
}

ssize_t read(int file, void *buffer, size_t count) {
    if (file < FIRST_FILE) return syscall(SYS_read, file, buffer, count);
    struct node *node = files[file - FIRST_FILE].node;
    if (!node) { errno = EBADF; return -1; }
    if (node->kind == FOLDER) { errno = EISDIR; return -1; }
    size_t *offset = &files[file - FIRST_FILE].offset;
    size_t left = *offset < node->count ? node->count - *offset : 0;
    if (count > left) count = left;
    if (count > 0) memcpy(buffer, node->text + *offset, count);
    *offset += count;
    return count;
}

/* Whole texts only, as sysfs takes them. */
ssize_t write(int file, const void *text, size_t count) {
    if (file < FIRST_FILE) return syscall(SYS_write, file, text, count);
    struct node *node = files[file - FIRST_FILE].node;
    if (!node || files[file - FIRST_FILE].offset > 0) { errno = EBADF; return -1; }
    char *kept = keep(text, count);
    if (!kept) { errno = ENOSPC; return -1; }
    node->text = kept;
    node->count = count;
    files[file - FIRST_FILE].offset = count;
    return count;
}

int close(int file) {
    if (file < FIRST_FILE) return syscall(SYS_close, file);
    if (!files[file - FIRST_FILE].node) { fprintf(stderr, "closed twice\n"); abort(); }
    files[file - FIRST_FILE].node = NULL;
    return 0;
}

/* MARK: Folders */

DIR *opendir(const char *path) {
    const char *inner = inside(path);
    if (!inner) return NEXT(opendir)(path);
    struct node *node = find(inner, 1);
    if (!node) return NULL;
    if (node->kind != FOLDER) { errno = ENOTDIR; return NULL; }
    for (int index = 0; index < FOLDERS_MAX; index++) {
        struct folder *folder = &folders[index];
        if (folder->node) continue;
        folder->node = node;
        folder->next = node->child;
        folder->dots = 0;
        return (DIR *)folder;
    }
    errno = EMFILE;
    return NULL;
}

static struct folder *ours(DIR *stream) {
    struct folder *folder = (struct folder *)stream;
    return folder >= folders && folder < folders + FOLDERS_MAX ? folder : NULL;
}

struct dirent *readdir(DIR *stream) {
    struct folder *folder = ours(stream);
    if (!folder) return NEXT(readdir)(stream);
    char *name = folder->entry.d_name;
    if (folder->dots < 2) {
        strcpy(name, folder->dots++ == 0 ? "." : "..");
    } else if (folder->next) {
        memcpy(name, folder->next->name, folder->next->name_count);
        name[folder->next->name_count] = 0;
        folder->next = folder->next->next;
    } else {
        return NULL;
    }
    return &folder->entry;
}

int closedir(DIR *stream) {
    struct folder *folder = ours(stream);
    if (!folder) return NEXT(closedir)(stream);
    folder->node = NULL;
    return 0;
}
