// The yardstick for latency over relays: the least that a UDP relay can do. No framing, no encryption.
//
//   udp_forward echo PORT                      returns every datagram to its sender
//   udp_forward forward PORT ADDRESS PORT      to and fro between the last stranger and ADDRESS:PORT
//   udp_forward ping ADDRESS PORT COUNT BYTES MICROSECONDS
//                                              one datagram every so often; prints the round trips
//
// IPv4 only; ends on SIGTERM. Prints nanoseconds as integers: "count … lost … p50 … p95 … p99 … max …".

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { DATAGRAM_BYTES_MAX = 65536, PING_COUNT_MAX = 10 * 1000 * 1000, TIMEOUT_MS = 1000 };

static char buffer[DATAGRAM_BYTES_MAX];

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static long number(const char *text, long low, long high) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != 0 || value < low || value > high) {
        fprintf(stderr, "%s: expected %ld to %ld\n", text, low, high);
        exit(2);
    }
    return value;
}

static struct sockaddr_in address(const char *host, const char *port) {
    struct sockaddr_in result = {.sin_family = AF_INET};
    result.sin_port = htons((uint16_t)number(port, 1, 65535));
    if (inet_pton(AF_INET, host, &result.sin_addr) != 1) {
        fprintf(stderr, "%s: not an IPv4 address\n", host);
        exit(2);
    }
    return result;
}

static int bound(const char *port) {
    int file = socket(AF_INET, SOCK_DGRAM, 0);
    if (file < 0) fail("socket");
    struct sockaddr_in any = address("0.0.0.0", port);
    if (bind(file, (struct sockaddr *)&any, sizeof any) != 0) fail("bind");
    return file;
}

// Sends on what was received; a full buffer or a refusal loses the datagram, as on any wire.
static void pass(int file, size_t count, const struct sockaddr_in *target) {
    (void)sendto(file, buffer, count, 0, (const struct sockaddr *)target, sizeof *target);
}

static ssize_t take(int file, struct sockaddr_in *source) {
    socklen_t length = sizeof *source;
    ssize_t count = recvfrom(file, buffer, sizeof buffer, 0, (struct sockaddr *)source, &length);
    if (count < 0 && errno != ECONNREFUSED && errno != EINTR) fail("recvfrom");
    return count;
}

static void echo(int file) {
    for (;;) {
        struct sockaddr_in source;
        ssize_t count = take(file, &source);
        if (count >= 0) pass(file, (size_t)count, &source);
    }
}

static void forward(int file, struct sockaddr_in next) {
    struct sockaddr_in stranger = {0};
    for (;;) {
        struct sockaddr_in source;
        ssize_t count = take(file, &source);
        if (count < 0) continue;
        if (source.sin_addr.s_addr == next.sin_addr.s_addr && source.sin_port == next.sin_port) {
            if (stranger.sin_port != 0) pass(file, (size_t)count, &stranger);
        } else {
            stranger = source;
            pass(file, (size_t)count, &next);
        }
    }
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int ascending(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

// The round trip of datagram `sequence`, or −1 if it does not come back in time.
static int64_t round_trip(int file, uint32_t sequence, size_t bytes) {
    memcpy(buffer, &sequence, sizeof sequence);
    int64_t start = now();
    if (send(file, buffer, bytes, 0) < 0) return -1;
    for (;;) {
        struct pollfd descriptor = {.fd = file, .events = POLLIN};
        if (poll(&descriptor, 1, TIMEOUT_MS) <= 0) return -1;
        ssize_t count = recv(file, buffer, sizeof buffer, 0);
        int64_t end = now();
        uint32_t answered;
        if (count < (ssize_t)sizeof answered) return -1;
        memcpy(&answered, buffer, sizeof answered);
        if (answered == sequence) return end - start;
    }
}

static void ping(struct sockaddr_in target, long count, size_t bytes, long microseconds) {
    int file = socket(AF_INET, SOCK_DGRAM, 0);
    if (file < 0) fail("socket");
    if (connect(file, (struct sockaddr *)&target, sizeof target) != 0) fail("connect");
    int64_t *trips = calloc((size_t)count, sizeof *trips);
    if (trips == NULL) fail("calloc");
    long back = 0;
    int64_t next = now();
    for (long sequence = 0; sequence < count; sequence++) {
        int64_t trip = round_trip(file, (uint32_t)sequence, bytes);
        if (trip >= 0) trips[back++] = trip;
        next += microseconds * 1000;
        struct timespec until = {.tv_sec = next / 1000000000, .tv_nsec = next % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
    qsort(trips, (size_t)back, sizeof *trips, ascending);
    printf("count %ld lost %ld", back, count - back);
    if (back > 0) {
        printf(" p50 %lld p95 %lld p99 %lld max %lld", (long long)trips[back / 2],
               (long long)trips[back * 95 / 100], (long long)trips[back * 99 / 100],
               (long long)trips[back - 1]);
    }
    printf("\n");
    free(trips);
    exit(back > 0 ? 0 : 1);
}

int main(int count, char **arguments) {
    if (count == 3 && strcmp(arguments[1], "echo") == 0) echo(bound(arguments[2]));
    if (count == 5 && strcmp(arguments[1], "forward") == 0) {
        forward(bound(arguments[2]), address(arguments[3], arguments[4]));
    }
    if (count == 7 && strcmp(arguments[1], "ping") == 0) {
        ping(address(arguments[2], arguments[3]), number(arguments[4], 1, PING_COUNT_MAX),
             (size_t)number(arguments[5], 4, 1200), number(arguments[6], 0, 10000000));
    }
    fprintf(stderr, "usage: udp_forward echo PORT | forward PORT ADDRESS PORT |\n"
                    "       ping ADDRESS PORT COUNT BYTES MICROSECONDS\n");
    return 2;
}
