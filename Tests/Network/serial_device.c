// serial_device LINK FILE MILLISECONDS: a pseudoterminal with a device on it, which sends the file again and
// again, as it is at the time. LINK names our end of the line while the device is plugged in, until SIGTERM.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *link_path;

static void unplug(int signal) {
    (void)signal;
    unlink(link_path);
    _exit(0);
}

int main(int count, char **words) {
    if (count != 4) return 2;
    link_path = words[1];
    signal(SIGTERM, unplug);
    const int device = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    if (device < 0 || grantpt(device) || unlockpt(device) || symlink(ptsname(device), link_path)) {
        perror("serial_device");
        return 1;
    }
    for (;;) {
        char buffer[4096];
        const int file = open(words[2], O_RDONLY);
        const ssize_t size = file < 0 ? 0 : read(file, buffer, sizeof buffer);
        if (file >= 0) close(file);
        // What is written to it, and what does not fit on the line, is lost, as with a real one.
        if (size > 0 && write(device, buffer, (size_t)size) < 0) (void)0;
        while (read(device, buffer, sizeof buffer) > 0) continue;
        poll(NULL, 0, atoi(words[3]));
    }
}
