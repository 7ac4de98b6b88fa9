#pragma once
// The kernel's Bluetooth sockets. Their addresses are declared in the headers of libbluetooth-dev and nowhere
// else; the library itself is not linked. Addresses are numbers here, most significant byte first.
#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/l2cap.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// socket(2) of the management interface, bound to no device (struct sockaddr_hci); -1 and errno.
static inline int cbluetooth_management_socket(void) {
    int file = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_HCI);
    if (file < 0) return -1;
    struct sockaddr_hci address;
    memset(&address, 0, sizeof address);
    address.hci_family = AF_BLUETOOTH;
    address.hci_dev = HCI_DEV_NONE;
    address.hci_channel = HCI_CHANNEL_CONTROL;
    if (bind(file, (struct sockaddr *)&address, sizeof address) == 0) return file;
    int code = errno;
    close(file);
    errno = code;
    return -1;
}

static inline struct sockaddr_l2 cbluetooth_address(uint64_t number, uint8_t kind, uint16_t psm) {
    struct sockaddr_l2 address;
    memset(&address, 0, sizeof address);
    address.l2_family = AF_BLUETOOTH;
    address.l2_psm = htobs(psm);
    for (int i = 0; i < 6; i++) address.l2_bdaddr.b[i] = (uint8_t)(number >> (8 * i));
    address.l2_bdaddr_type = kind;
    return address;
}

// socket(2) of L2CAP's connection-oriented channels, whose messages keep their boundaries.
static inline int cbluetooth_channel_socket(void) {
    return socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_L2CAP);
}

// bind(2) to a controller; psm 0 takes one of the kernel's choice.
static inline int cbluetooth_bind(int file, uint64_t number, uint8_t kind, uint16_t psm) {
    struct sockaddr_l2 address = cbluetooth_address(number, kind, psm);
    return bind(file, (struct sockaddr *)&address, sizeof address);
}

// connect(2), which gives EINPROGRESS.
static inline int cbluetooth_connect(int file, uint64_t number, uint8_t kind, uint16_t psm) {
    struct sockaddr_l2 address = cbluetooth_address(number, kind, psm);
    return connect(file, (struct sockaddr *)&address, sizeof address);
}

// getsockname(2): the PSM that the socket listens on, 0 if it cannot be told.
static inline uint16_t cbluetooth_own_psm(int file) {
    struct sockaddr_l2 address;
    socklen_t length = sizeof address;
    memset(&address, 0, sizeof address);
    return getsockname(file, (struct sockaddr *)&address, &length) == 0 ? btohs(address.l2_psm) : 0;
}

// accept(2): who it is comes back in number and kind.
static inline int cbluetooth_accept(int listener, uint64_t *number, uint8_t *kind) {
    struct sockaddr_l2 address;
    socklen_t length = sizeof address;
    memset(&address, 0, sizeof address);
    int file = accept(listener, (struct sockaddr *)&address, &length);
    if (file < 0) return -1;
    fcntl(file, F_SETFD, FD_CLOEXEC);
    fcntl(file, F_SETFL, O_NONBLOCK);
    *number = 0;
    for (int i = 5; i >= 0; i--) *number = *number << 8 | address.l2_bdaddr.b[i];
    *kind = address.l2_bdaddr_type;
    return file;
}

// setsockopt(2) BT_SECURITY: no pairing, no encryption of the radio's own.
static inline int cbluetooth_set_low_security(int file) {
    struct bt_security security = {.level = BT_SECURITY_LOW};
    return setsockopt(file, SOL_BLUETOOTH, BT_SECURITY, &security, sizeof security);
}

// setsockopt(2): the largest message that we take. BT_RCVMTU for LE, L2CAP_OPTIONS for BR/EDR.
static inline int cbluetooth_set_receive_mtu(int file, int is_classic, uint16_t bytes) {
    if (!is_classic) return setsockopt(file, SOL_BLUETOOTH, BT_RCVMTU, &bytes, sizeof bytes);
    struct l2cap_options options;
    socklen_t length = sizeof options;
    memset(&options, 0, sizeof options);
    if (getsockopt(file, SOL_L2CAP, L2CAP_OPTIONS, &options, &length) != 0) return -1;
    options.imtu = options.omtu = bytes;
    return setsockopt(file, SOL_L2CAP, L2CAP_OPTIONS, &options, sizeof options);
}

// getsockopt(2): the largest message that the other side takes, 0 if it cannot be told.
static inline uint16_t cbluetooth_send_mtu(int file, int is_classic) {
    if (is_classic) {
        struct l2cap_options options;
        socklen_t length = sizeof options;
        memset(&options, 0, sizeof options);
        return getsockopt(file, SOL_L2CAP, L2CAP_OPTIONS, &options, &length) == 0 ? options.omtu : 0;
    }
    uint16_t bytes = 0;
    socklen_t length = sizeof bytes;
    return getsockopt(file, SOL_BLUETOOTH, BT_SNDMTU, &bytes, &length) == 0 ? bytes : 0;
}

// MSG_NOSIGNAL of <sys/socket.h>, an enumerator behind a macro of its own name.
static inline int cbluetooth_msg_nosignal(void) { return MSG_NOSIGNAL; }

// getsockopt(2) SO_ERROR: how a connect ended.
static inline int cbluetooth_error(int file) {
    int code = 0;
    socklen_t length = sizeof code;
    return getsockopt(file, SOL_SOCKET, SO_ERROR, &code, &length) == 0 ? code : errno;
}
