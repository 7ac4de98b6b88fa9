#pragma once
// First what Swift's Glibc module has too (fd_set differs under _GNU_SOURCE, and two definitions in one
// program are refused); then the GNU parts of the headers that only this module includes.
#include <sys/select.h>
#include <sys/types.h>
#include <time.h>
#ifndef __USE_GNU
#define __USE_GNU 1
#endif
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/signalfd.h>

// NearbyLinux: sockets, netlink, clocks.
#include <linux/errqueue.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

// The CMSG_… macros of <sys/socket.h>, which Swift cannot import.

static inline struct cmsghdr *clinux_cmsg_first(struct msghdr *message) {
    return CMSG_FIRSTHDR(message);
}

static inline struct cmsghdr *clinux_cmsg_next(struct msghdr *message, struct cmsghdr *header) {
    return CMSG_NXTHDR(message, header);
}

static inline void *clinux_cmsg_data(struct cmsghdr *header) { return CMSG_DATA(header); }

static inline size_t clinux_cmsg_space(size_t bytes) { return CMSG_SPACE(bytes); }

static inline size_t clinux_cmsg_length(size_t bytes) { return CMSG_LEN(bytes); }

// Linux 4.20's IPV6_MULTICAST_ALL; glibc's headers lack it.
static inline int clinux_ipv6_multicast_all(void) { return 29; }

// accept4: its address argument is a transparent union under _GNU_SOURCE, which Swift cannot pass.
static inline int clinux_accept(int listener) {
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

// adjtimex(2) with no modes. By number and with the head of its structure written out, because <sys/timex.h>
// under _GNU_SOURCE defines fd_set otherwise than Swift's Glibc module has it.
struct clinux_kernel_clock {
    unsigned modes;
    long offset, frequency, maximum_error, estimated_error; // errors in microseconds
    int status;                                             // STA_… bits
    long rest[64];
};

static inline int clinux_read_kernel_clock(struct clinux_kernel_clock *clock) {
    *clock = (struct clinux_kernel_clock){0};
    return (int)syscall(SYS_adjtimex, clock);
}

// MSG_NOSIGNAL of <sys/socket.h>, an enumerator behind a macro of its own name.
static inline int clinux_msg_nosignal(void) { return MSG_NOSIGNAL; }

// glibc 2.34's posix_spawn_file_actions_addclosefrom_np, which Swift's Glibc module leaves out.
#include <spawn.h>
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);

static inline int clinux_spawn_close_from(void *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np((posix_spawn_file_actions_t *)actions, first);
}

// dl_iterate_phdr(3), whose callback takes what Swift cannot name: the pages of all loaded files that are
// mapped without being writable, given back. They stay in the kernel's cache and come again when touched;
// pages that were ever written (relocations) lie in writable segments and are left alone.
#include <link.h>
#include <sys/mman.h>

static inline int clinux_give_back_object(struct dl_phdr_info *object, size_t size, void *context) {
    const unsigned long page = (unsigned long)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || segment->p_flags & PF_W) continue;
        unsigned long first = object->dlpi_addr + segment->p_vaddr;
        unsigned long end = (first + segment->p_memsz) & ~(page - 1);
        first = (first + page - 1) & ~(page - 1);
        if (first < end) madvise((void *)first, end - first, MADV_DONTNEED);
    }
    (void)size, (void)context;
    return 0;
}

static inline void clinux_give_back_pages(void) {
    dl_iterate_phdr(clinux_give_back_object, NULL);
}

// /dev/i2c-N: ioctls whose arguments hold pointers, or are unions, of <linux/i2c-dev.h>. Each gives 0 or more,
// or -1 with errno.
#include <linux/i2c-dev.h>
#include <errno.h>
#include <linux/i2c.h>
#include <sys/ioctl.h>

// Whether the adapter does plain I2C; otherwise it does SMBus commands only.
static inline int clinux_i2c_is_plain(int file) {
    unsigned long functions = 0;
    if (ioctl(file, I2C_FUNCS, &functions) < 0) return -1;
    return (functions & I2C_FUNC_I2C) != 0;
}

// EBUSY if a driver of the kernel has the device.
static inline int clinux_i2c_set_address(int file, int address) {
    return ioctl(file, I2C_SLAVE, (unsigned long)address);
}

// Writes, then reads after a repeated start; a count of 0 leaves that part out.
static inline int clinux_i2c_transfer(int file, int address, const unsigned char *written, int written_count,
                                      unsigned char *read, int read_count) {
    struct i2c_msg messages[2];
    struct i2c_rdwr_ioctl_data transfer = {messages, 0};
    if (written_count > 0)
        messages[transfer.nmsgs++] =
            (struct i2c_msg){(__u16)address, 0, (__u16)written_count, (unsigned char *)written};
    if (read_count > 0)
        messages[transfer.nmsgs++] = (struct i2c_msg){(__u16)address, I2C_M_RD, (__u16)read_count, read};
    return ioctl(file, I2C_RDWR, &transfer);
}

// The same in SMBus commands, which put the same bytes on the wire: at most 32 bytes after the command byte.
static inline int clinux_smbus_transfer(int file, const unsigned char *written, int written_count,
                                        unsigned char *read, int read_count) {
    union i2c_smbus_data data = {0};
    struct i2c_smbus_ioctl_data transfer = {I2C_SMBUS_WRITE, written_count > 0 ? written[0] : 0, 0, &data};
    const int rest = read_count > 0 ? read_count : written_count - 1;
    if (read_count > 0 && written_count > 1) { errno = EOPNOTSUPP; return -1; }
    if (rest > I2C_SMBUS_BLOCK_MAX) { errno = EMSGSIZE; return -1; }
    if (read_count > 0) transfer.read_write = I2C_SMBUS_READ;
    if (written_count == 0) {
        if (rest != 1) { errno = EOPNOTSUPP; return -1; }
        transfer.size = I2C_SMBUS_BYTE;
    } else if (rest == 0) {
        transfer.size = I2C_SMBUS_BYTE;
    } else if (rest == 1) {
        transfer.size = I2C_SMBUS_BYTE_DATA;
        if (read_count == 0) data.byte = written[1];
    } else if (rest == 2) {
        // A word's low byte is the first on the wire.
        transfer.size = I2C_SMBUS_WORD_DATA;
        if (read_count == 0) data.word = (__u16)(written[1] | written[2] << 8);
    } else {
        transfer.size = I2C_SMBUS_I2C_BLOCK_DATA;
        data.block[0] = (__u8)rest;
        if (read_count == 0) for (int i = 0; i < rest; i++) data.block[i + 1] = written[i + 1];
    }
    if (ioctl(file, I2C_SMBUS, &transfer) < 0) return -1;
    if (read_count == 1) read[0] = data.byte;
    if (read_count == 2) read[0] = (unsigned char)data.word, read[1] = (unsigned char)(data.word >> 8);
    if (read_count > 2) {
        if (data.block[0] != read_count) { errno = EIO; return -1; }
        for (int i = 0; i < read_count; i++) read[i] = data.block[i + 1];
    }
    return 0;
}

// FileTransfer: renameat2 with RENAME_NOREPLACE. By number: Swift's Glibc module lacks it.
static inline int clinux_rename_new(int from_folder, const char *from, int to_folder, const char *to) {
    return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 1);
}
