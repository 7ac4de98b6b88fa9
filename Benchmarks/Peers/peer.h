// What the peers' programs share: arguments, the clock, the key, and the figures that are printed.
#pragma once

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// As Benchmarks/Latency sends them: a time in the first eight of a hundred bytes.
enum { MESSAGE_BYTES = 100, TIMES_MAX = 2 * 1000 * 1000, IDENTITY_BYTES_MAX = 64, KEY_HEX_MAX = 128 };

static const int64_t MILLISECOND = 1000 * 1000, SECOND = 1000 * 1000 * 1000;

static inline void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static inline long number(const char *text, long low, long high) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != 0 || value < low || value > high) {
        fprintf(stderr, "%s: expected %ld to %ld\n", text, low, high);
        exit(2);
    }
    return value;
}

static inline int64_t clock_nanoseconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

// One clock for all processes of the machine.
static inline int64_t now(void) { return clock_nanoseconds(CLOCK_MONOTONIC); }

// From now until then, and never less than nothing.
static inline struct timespec until(int64_t then) {
    int64_t rest = then - now();
    if (rest < 0) rest = 0;
    return (struct timespec){.tv_sec = rest / SECOND, .tv_nsec = rest % SECOND};
}

// The pre-shared key, in hexadecimal, and whose it is.
struct psk {
    char identity[IDENTITY_BYTES_MAX + 1];
    char key[KEY_HEX_MAX + 1];
};

// From a file with one line, "identity:key", as mosquitto reads it.
static inline struct psk psk_read(const char *path) {
    struct psk psk;
    FILE *file = fopen(path, "r");
    if (file == NULL) fail(path, strerror(errno));
    if (fscanf(file, "%64[^:\n]:%128[0-9a-f]", psk.identity, psk.key) != 2) {
        fail(path, "expected identity:key");
    }
    fclose(file);
    if (strlen(psk.key) % 2 != 0 || strlen(psk.key) < 32) fail(path, "the key is too short");
    return psk;
}

static inline void stamp(uint8_t *message) {
    memset(message, 0x55, MESSAGE_BYTES);
    int64_t time = now();
    memcpy(message, &time, sizeof time);
}

static inline int64_t stamp_of(const uint8_t *message) {
    int64_t time;
    memcpy(&time, message, sizeof time);
    return time;
}

// The first two million times, nanoseconds.
static int64_t times[TIMES_MAX];
static long time_count;

static inline void record(int64_t nanoseconds) {
    if (time_count < TIMES_MAX) times[time_count++] = nanoseconds;
}

static inline int ascending(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

// "p50 p99" of what was recorded, microseconds, without the end of the line.
static inline void print_times(void) {
    if (time_count == 0) fail("measured", "nothing arrived");
    qsort(times, (size_t)time_count, sizeof *times, ascending);
    printf("%lld %lld", (long long)times[time_count / 2] / 1000,
           (long long)times[time_count * 99 / 100] / 1000);
}
