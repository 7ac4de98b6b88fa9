#pragma once
#include <errno.h>
#include <fcntl.h>
#include <gpiod.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// One spelling over libgpiod 1.6 (Debian 12) and 2.x (Debian 13), which share little but gpiod_chip_open and
// gpiod_chip_close. Only 1.x defines GPIOD_BIT. Unless said otherwise a function returns -1 or NULL with errno
// set where it failed.
#ifdef GPIOD_BIT
#define CGPIOD_IS_1 1
#else
#define CGPIOD_IS_1 0
#endif

// The kernel's names have at most 31 bytes.
struct cgpiod_chip_about {
    char name[32];  // gpiochip0
    char label[32]; // pinctrl-bcm2711
    uint32_t line_count;
};

struct cgpiod_line_about {
    char name[32];     // GPIO17; empty: none
    char consumer[32]; // who holds it; empty: not told
    bool is_used;
    bool is_output;
};

enum cgpiod_use { CGPIOD_INPUT, CGPIOD_RISING, CGPIOD_FALLING, CGPIOD_BOTH, CGPIOD_OUTPUT };
enum cgpiod_bias { CGPIOD_AS_IS, CGPIOD_NO_BIAS, CGPIOD_PULL_UP, CGPIOD_PULL_DOWN };

struct cgpiod_wish {
    int use;  // cgpiod_use
    int bias; // cgpiod_bias
    bool is_active_low;
    bool initial;         // of an output
    uint32_t debounce_us; // 0: none; without effect where cgpiod_debounces() is false
};

struct cgpiod_event {
    int64_t nanoseconds; // CLOCK_MONOTONIC
    uint32_t number;     // from 1, of this line; 0: this version does not number
    bool is_rising;      // of the logical level
};

// A line that was asked for; the chip is its own in 1.x.
struct cgpiod_request {
    struct gpiod_chip *chip;
#if CGPIOD_IS_1
    struct gpiod_line *line;
#else
    struct gpiod_line_request *lines;
    struct gpiod_edge_event_buffer *buffer;
    unsigned offset;
#endif
};

// How many events the kernel keeps in 2.x; in 1.x always 16.
#define CGPIOD_QUEUE 256
// Events that one cgpiod_request_read takes at most.
#define CGPIOD_READ_MAX 64

// Whether the kernel debounces for us and numbers a line's edges, so that lost ones show.
static inline bool cgpiod_debounces(void) { return !CGPIOD_IS_1; }

static inline void cgpiod_copy(char (*to)[32], const char *from) {
    memset(*to, 0, sizeof *to);
    if (from) strncpy(*to, from, sizeof *to - 1);
}

static inline int cgpiod_chip_describe(struct gpiod_chip *chip, struct cgpiod_chip_about *about) {
#if CGPIOD_IS_1
    cgpiod_copy(&about->name, gpiod_chip_name(chip));
    cgpiod_copy(&about->label, gpiod_chip_label(chip));
    about->line_count = gpiod_chip_num_lines(chip);
#else
    struct gpiod_chip_info *info = gpiod_chip_get_info(chip);
    if (!info) return -1;
    cgpiod_copy(&about->name, gpiod_chip_info_get_name(info));
    cgpiod_copy(&about->label, gpiod_chip_info_get_label(info));
    about->line_count = (uint32_t)gpiod_chip_info_get_num_lines(info);
    gpiod_chip_info_free(info);
#endif
    return 0;
}

static inline int cgpiod_line_describe(
    struct gpiod_chip *chip, uint32_t offset, struct cgpiod_line_about *about) {
#if CGPIOD_IS_1
    struct gpiod_line *line = gpiod_chip_get_line(chip, offset);
    if (!line) return -1;
    cgpiod_copy(&about->name, gpiod_line_name(line));
    cgpiod_copy(&about->consumer, gpiod_line_consumer(line));
    about->is_used = gpiod_line_is_used(line);
    about->is_output = gpiod_line_direction(line) == GPIOD_LINE_DIRECTION_OUTPUT;
#else
    struct gpiod_line_info *info = gpiod_chip_get_line_info(chip, offset);
    if (!info) return -1;
    cgpiod_copy(&about->name, gpiod_line_info_get_name(info));
    cgpiod_copy(&about->consumer, gpiod_line_info_get_consumer(info));
    about->is_used = gpiod_line_info_is_used(info);
    about->is_output = gpiod_line_info_get_direction(info) == GPIOD_LINE_DIRECTION_OUTPUT;
    gpiod_line_info_free(info);
#endif
    return 0;
}

// Lets the line go. NULL is harmless; errno is kept.
static inline void cgpiod_request_release(struct cgpiod_request *request) {
    int code = errno;
    if (!request) return;
#if CGPIOD_IS_1
    if (request->line) gpiod_line_release(request->line);
#else
    if (request->lines) gpiod_line_request_release(request->lines);
    if (request->buffer) gpiod_edge_event_buffer_free(request->buffer);
#endif
    if (request->chip) gpiod_chip_close(request->chip);
    free(request);
    errno = code;
}

// Readable when there are edges; -1 in 1.x for a line without them.
static inline int cgpiod_request_fd(struct cgpiod_request *request) {
#if CGPIOD_IS_1
    return gpiod_line_event_get_fd(request->line);
#else
    return gpiod_line_request_get_fd(request->lines);
#endif
}

#if CGPIOD_IS_1
static inline int cgpiod_request_take(struct cgpiod_request *request, uint32_t offset,
    const char *consumer, const struct cgpiod_wish *wish) {
    static const int types[] = {GPIOD_LINE_REQUEST_DIRECTION_INPUT,
        GPIOD_LINE_REQUEST_EVENT_RISING_EDGE, GPIOD_LINE_REQUEST_EVENT_FALLING_EDGE,
        GPIOD_LINE_REQUEST_EVENT_BOTH_EDGES, GPIOD_LINE_REQUEST_DIRECTION_OUTPUT};
    static const int biases[] = {0, GPIOD_LINE_REQUEST_FLAG_BIAS_DISABLE,
        GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_UP, GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_DOWN};
    struct gpiod_line_request_config config = {
        .consumer = consumer,
        .request_type = types[wish->use],
        .flags = biases[wish->bias] |
                 (wish->is_active_low ? GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW : 0),
    };
    struct gpiod_line *line = gpiod_chip_get_line(request->chip, offset);
    if (!line || gpiod_line_request(line, &config, wish->initial) != 0) return -1;
    request->line = line;
    return 0;
}
#else
static inline int cgpiod_request_take(struct cgpiod_request *request, uint32_t offset,
    const char *consumer, const struct cgpiod_wish *wish) {
    static const enum gpiod_line_edge edges[] = {GPIOD_LINE_EDGE_NONE, GPIOD_LINE_EDGE_RISING,
        GPIOD_LINE_EDGE_FALLING, GPIOD_LINE_EDGE_BOTH, GPIOD_LINE_EDGE_NONE};
    static const enum gpiod_line_bias biases[] = {GPIOD_LINE_BIAS_AS_IS, GPIOD_LINE_BIAS_DISABLED,
        GPIOD_LINE_BIAS_PULL_UP, GPIOD_LINE_BIAS_PULL_DOWN};
    struct gpiod_line_settings *settings = gpiod_line_settings_new();
    struct gpiod_line_config *lines = gpiod_line_config_new();
    struct gpiod_request_config *config = gpiod_request_config_new();
    request->offset = offset;
    request->buffer = gpiod_edge_event_buffer_new(CGPIOD_READ_MAX);
    if (settings && lines && config && request->buffer) {
        bool is_output = wish->use == CGPIOD_OUTPUT;
        gpiod_line_settings_set_direction(
            settings, is_output ? GPIOD_LINE_DIRECTION_OUTPUT : GPIOD_LINE_DIRECTION_INPUT);
        gpiod_line_settings_set_edge_detection(settings, edges[wish->use]);
        gpiod_line_settings_set_bias(settings, biases[wish->bias]);
        gpiod_line_settings_set_active_low(settings, wish->is_active_low);
        gpiod_line_settings_set_debounce_period_us(settings, wish->debounce_us);
        gpiod_line_settings_set_event_clock(settings, GPIOD_LINE_CLOCK_MONOTONIC);
        gpiod_line_settings_set_output_value(
            settings, wish->initial ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE);
        gpiod_request_config_set_consumer(config, consumer);
        gpiod_request_config_set_event_buffer_size(config, CGPIOD_QUEUE);
        if (gpiod_line_config_add_line_settings(lines, &request->offset, 1, settings) == 0)
            request->lines = gpiod_chip_request_lines(request->chip, config, lines);
    }
    int code = errno;
    if (config) gpiod_request_config_free(config);
    if (lines) gpiod_line_config_free(lines);
    if (settings) gpiod_line_settings_free(settings);
    errno = code;
    return request->lines ? 0 : -1;
}
#endif

// Takes the line of the chip at `path`; what it is read from never blocks.
static inline struct cgpiod_request *cgpiod_request_new(const char *path, uint32_t offset,
    const char *consumer, const struct cgpiod_wish *wish) {
    struct cgpiod_request *request = calloc(1, sizeof *request);
    if (!request) return NULL;
    request->chip = gpiod_chip_open(path);
    if (!request->chip || cgpiod_request_take(request, offset, consumer, wish) != 0) {
        cgpiod_request_release(request);
        return NULL;
    }
    if (wish->use != CGPIOD_INPUT && wish->use != CGPIOD_OUTPUT) {
        int fd = cgpiod_request_fd(request);
        int flags = fcntl(fd, F_GETFL);
        if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) {
            cgpiod_request_release(request);
            return NULL;
        }
    }
    return request;
}

// The logical level, 0 or 1. It may wait for the bus of an expander.
static inline int cgpiod_request_level(struct cgpiod_request *request) {
#if CGPIOD_IS_1
    return gpiod_line_get_value(request->line);
#else
    return (int)gpiod_line_request_get_value(request->lines, request->offset);
#endif
}

static inline int cgpiod_request_set(struct cgpiod_request *request, bool level) {
#if CGPIOD_IS_1
    return gpiod_line_set_value(request->line, level);
#else
    return gpiod_line_request_set_value(request->lines, request->offset,
        level ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE);
#endif
}

// The oldest edges, at most CGPIOD_READ_MAX of them; EAGAIN: none.
static inline int cgpiod_request_read(
    struct cgpiod_request *request, struct cgpiod_event events[CGPIOD_READ_MAX]) {
#if CGPIOD_IS_1
    struct gpiod_line_event raw[16];
    int count = gpiod_line_event_read_multiple(request->line, raw, 16);
    for (int index = 0; index < count; index++) {
        events[index].nanoseconds =
            (int64_t)raw[index].ts.tv_sec * 1000000000 + raw[index].ts.tv_nsec;
        events[index].number = 0;
        events[index].is_rising = raw[index].event_type == GPIOD_LINE_EVENT_RISING_EDGE;
    }
#else
    int count =
        gpiod_line_request_read_edge_events(request->lines, request->buffer, CGPIOD_READ_MAX);
    for (int index = 0; index < count; index++) {
        struct gpiod_edge_event *raw =
            gpiod_edge_event_buffer_get_event(request->buffer, (unsigned long)index);
        events[index].nanoseconds = (int64_t)gpiod_edge_event_get_timestamp_ns(raw);
        events[index].number = (uint32_t)gpiod_edge_event_get_line_seqno(raw);
        events[index].is_rising =
            gpiod_edge_event_get_event_type(raw) == GPIOD_EDGE_EVENT_RISING_EDGE;
    }
#endif
    return count;
}
