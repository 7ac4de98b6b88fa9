// tcp_bulk serve PORT FILE | tcp_bulk fetch ADDRESS PORT FILE: one file over one TCP connection, read and written in
// pieces of 64 KiB: the yardstick for resources. `fetch` prints MB/s.
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static char piece[65536];

static long copy(int from, int to) {
    long total = 0;
    for (;;) {
        ssize_t count = read(from, piece, sizeof piece);
        if (count <= 0) return count < 0 ? -1 : total;
        for (ssize_t done = 0; done < count;) {
            ssize_t part = write(to, piece + done, count - done);
            if (part <= 0) return -1;
            done += part;
        }
        total += count;
    }
}

int main(int argc, char **argv) {
    if (argc < 4) return 64;
    int is_server = !strcmp(argv[1], "serve");
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[is_server ? 2 : 3]))};
    int one = 1, file, connection = socket(AF_INET, SOCK_STREAM, 0);
    if (is_server) {
        setsockopt(connection, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        if (bind(connection, (struct sockaddr *)&address, sizeof address) || listen(connection, 8)) return 1;
        for (;;) {
            int client = accept(connection, NULL, NULL);
            if (client < 0 || (file = open(argv[3], O_RDONLY)) < 0) return 1;
            copy(file, client);
            close(file);
            close(client);
        }
    }
    if (argc < 5 || inet_pton(AF_INET, argv[2], &address.sin_addr) != 1) return 64;
    file = open(argv[4], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    if (file < 0 || connect(connection, (struct sockaddr *)&address, sizeof address)) return 1;
    long total = copy(connection, file);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    if (total < 0) return 1;
    double seconds = ended.tv_sec - began.tv_sec + (ended.tv_nsec - began.tv_nsec) / 1e9;
    printf("%.0f\n", total / seconds / 1e6);
}
