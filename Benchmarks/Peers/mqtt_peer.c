// An MQTT client of libmosquitto's that measures as Benchmarks/Latency and Benchmarks/Crowd do: TLS with a pre-shared
// key and ECDHE, ChaCha20-Poly1305 as in our frames, QoS 0, one thread, messages of 100 bytes.
//
//   mqtt_peer receive KEYS HOST PORT COUNT [SECONDS]
//       prints "p50 p99 gap rate": one-way times and the longest gap in microseconds, and how many came a second; ends
//       with 95 in a hundred of COUNT, when nothing came for two seconds, or after SECONDS (30)
//   mqtt_peer send|flood KEYS HOST PORT COUNT
//       one a millisecond, with TCP_NODELAY, or the next when the socket has taken the one before
//   mqtt_peer connect KEYS HOST PORT
//       prints the CLOCK_REALTIME of its CONNACK, nanoseconds
//   mqtt_peer crowd KEYS HOST PORT CLIENTS
//       so many clients on one loop; prints "connected N of M after T ms" when N changes, and stays until it is ended.
//       With CROWD_STOPS in the environment it stops itself before it begins, for SIGCONT.
//
// KEYS is a file with a line "identity:key". All must run on one machine: they share its clock. Standard error says
// "ready" when a receiver's subscription was granted.

#include "peer.h"
#include <mosquitto.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

enum { CLIENTS_MAX = 1000, COUNT_MAX = 10 * 1000 * 1000, KEEPALIVE_S = 600 };

static const char TOPIC[] = "bench";
// Of TLS 1.2; which version is spoken, the library decides. Either makes its keys with ECDHE.
static const char SUITE[] = "ECDHE-PSK-CHACHA20-POLY1305", SUITE_1_3[] = "TLS_CHACHA20_POLY1305_SHA256";
static const int64_t CONNECT_LIMIT = 30 * SECOND, QUIET_LIMIT = 2 * SECOND;

static long connected;
// When a crowd began, and of how many.
static int64_t crowd_began;
static long crowd_count;
static bool subscribed, leaving;
static long received;
static int64_t first_arrival, last_arrival, longest_gap;

static void check(int result, const char *what) {
    if (result == MOSQ_ERR_ERRNO) fail(what, strerror(errno));
    if (result != MOSQ_ERR_SUCCESS) fail(what, mosquitto_strerror(result));
}

static void on_connect(struct mosquitto *client, void *context, int code) {
    (void)context;
    if (code != 0) fail("connect", mosquitto_connack_string(code));
    const SSL *tls = mosquitto_ssl_get(client);
    if (tls == NULL) fail("connect", "without TLS");
    const char *suite = SSL_get_cipher_name(tls);
    if (strcmp(suite, SUITE) != 0 && strcmp(suite, SUITE_1_3) != 0) fail("cipher suite", suite);
    connected++;
    if (crowd_count == 0) return;
    long long milliseconds = (now() - crowd_began) / MILLISECOND;
    printf("connected %ld of %ld after %lld ms\n", connected, crowd_count, milliseconds);
}

static void on_disconnect(struct mosquitto *client, void *context, int code) {
    (void)client;
    (void)context;
    if (code != 0 && !leaving) fail("connection lost", mosquitto_strerror(code));
}

static void on_subscribe(struct mosquitto *client, void *context, int id, int count, const int *granted) {
    (void)client;
    (void)context;
    (void)id;
    if (count != 1 || granted[0] != 0) fail("subscribe", "refused");
    subscribed = true;
}

static void on_message(struct mosquitto *client, void *context, const struct mosquitto_message *message) {
    (void)client;
    (void)context;
    if (message->payloadlen != MESSAGE_BYTES) fail("message", "not of 100 bytes");
    int64_t arrival = now();
    record(arrival - stamp_of(message->payload));
    if (received++ == 0) first_arrival = arrival;
    else if (arrival - last_arrival > longest_gap) longest_gap = arrival - last_arrival;
    last_arrival = arrival;
}

// With Nagle's algorithm a flood gets further, and what comes one by one waits.
static bool has_nagle;

static struct mosquitto *client_new(const struct psk *psk) {
    struct mosquitto *client = mosquitto_new(NULL, true, NULL);
    if (client == NULL) fail("mosquitto_new", strerror(errno));
    check(mosquitto_tls_psk_set(client, psk->key, psk->identity, SUITE), "key");
    check(mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, !has_nagle), "TCP_NODELAY");
    mosquitto_connect_callback_set(client, on_connect);
    mosquitto_disconnect_callback_set(client, on_disconnect);
    mosquitto_subscribe_callback_set(client, on_subscribe);
    mosquitto_message_callback_set(client, on_message);
    return client;
}

static struct pollfd interest(struct mosquitto *client) {
    int events = POLLIN | (mosquitto_want_write(client) ? POLLOUT : 0);
    return (struct pollfd){.fd = mosquitto_socket(client), .events = (short)events};
}

static void handle(struct mosquitto *client, short events) {
    if (events == 0) return;
    // The library does not say so of a connection that it still makes.
    if (events & (POLLERR | POLLHUP)) fail("connection", "refused or reset");
    if (events & POLLOUT) check(mosquitto_loop_write(client, 1), "write");
    // In the library it is reading that carries a handshake on.
    int is_handshake = SSL_in_init(mosquitto_ssl_get(client));
    if (events & ~POLLOUT || is_handshake) check(mosquitto_loop_read(client, 1), "read");
}

// Waits until the socket is ready or the time has come, and handles what is ready.
static void serve(struct mosquitto *client, int64_t deadline) {
    struct pollfd file = interest(client);
    struct timespec rest = until(deadline);
    if (ppoll(&file, 1, &rest, NULL) < 0 && errno != EINTR) fail("ppoll", strerror(errno));
    handle(client, file.revents);
    check(mosquitto_loop_misc(client), "keep alive");
}

static struct mosquitto *client_connected(const struct psk *psk, const char *host, int port) {
    struct mosquitto *client = client_new(psk);
    int64_t limit = now() + CONNECT_LIMIT;
    check(mosquitto_connect(client, host, port, KEEPALIVE_S), "connect");
    while (connected == 0 && now() < limit) serve(client, limit);
    if (connected == 0) fail("connect", "no answer");
    return client;
}

static void receive(struct mosquitto *client, long count, long seconds) {
    int64_t limit = now() + seconds * SECOND;
    check(mosquitto_subscribe(client, NULL, TOPIC, 0), "subscribe");
    while (!subscribed && now() < limit) serve(client, limit);
    if (!subscribed) fail("subscribe", "no answer");
    fprintf(stderr, "ready\n");
    while (received < count / 100 * 95) {
        int64_t quiet = received > 0 ? last_arrival + QUIET_LIMIT : limit;
        int64_t deadline = quiet < limit ? quiet : limit;
        if (now() >= deadline) break;
        serve(client, deadline);
    }
    if (last_arrival == first_arrival) fail("receive", "nothing arrived");
    print_times();
    printf(" %lld %lld\n", (long long)longest_gap / 1000,
           (long long)received * SECOND / (last_arrival - first_arrival));
    fprintf(stderr, "received %ld\n", received);
}

// At most one message waits in the library: the next is made when the socket has taken the last.
static void publish(struct mosquitto *client) {
    uint8_t message[MESSAGE_BYTES];
    stamp(message);
    check(mosquitto_publish(client, NULL, TOPIC, MESSAGE_BYTES, message, 0, false), "publish");
    while (mosquitto_want_write(client)) serve(client, now() + SECOND);
}

static void serve_until(struct mosquitto *client, int64_t time) {
    while (now() < time) serve(client, time);
}

static void send_all(struct mosquitto *client, long count, int64_t pause) {
    serve_until(client, now() + SECOND);
    int64_t began = now();
    for (long sent = 0; sent < count; sent++) {
        // From this turn, as ours: what is late is not caught up on.
        int64_t due = now() + pause;
        publish(client);
        serve_until(client, due);
    }
    fprintf(stderr, "sent %ld in %lld ms\n", count, (long long)(now() - began) / MILLISECOND);
    leaving = true;
    check(mosquitto_disconnect(client), "disconnect");
}

// Otherwise the library makes it when it connects, which takes longer than the handshake; ours is made before, too.
static void make_context(struct mosquitto *client) {
    SSL_CTX *tls = SSL_CTX_new(TLS_client_method());
    if (tls == NULL) fail("SSL_CTX_new", "no memory");
    check(mosquitto_void_option(client, MOSQ_OPT_SSL_CTX, tls), "SSL_CTX");
    check(mosquitto_int_option(client, MOSQ_OPT_SSL_CTX_WITH_DEFAULTS, 1), "SSL_CTX");
}

static void crowd(const struct psk *psk, const char *host, int port, long count) {
    static struct mosquitto *clients[CLIENTS_MAX];
    static struct pollfd files[CLIENTS_MAX];
    // The library is ready for contexts of others with its first connection.
    check(mosquitto_disconnect(client_connected(psk, host, port)), "disconnect");
    connected = 0;
    for (long i = 0; i < count; i++) make_context(clients[i] = client_new(psk));
    if (getenv("CROWD_STOPS") != NULL) raise(SIGSTOP);
    crowd_count = count;
    crowd_began = now();
    for (long i = 0; i < count; i++) {
        check(mosquitto_connect_async(clients[i], host, port, KEEPALIVE_S), "connect");
    }
    for (;;) {
        for (long i = 0; i < count; i++) files[i] = interest(clients[i]);
        if (poll(files, (nfds_t)count, 1000) < 0 && errno != EINTR) fail("poll", strerror(errno));
        for (long i = 0; i < count; i++) handle(clients[i], files[i].revents);
        fflush(stdout);
    }
}

int main(int count, char **arguments) {
    if (count < 5) goto usage;
    const char *mode = arguments[1], *host = arguments[3];
    struct psk psk = psk_read(arguments[2]);
    int port = (int)number(arguments[4], 1, 65535);
    check(mosquitto_lib_init(), "libmosquitto");
    if ((count == 6 || count == 7) && strcmp(mode, "receive") == 0) {
        long messages = number(arguments[5], 100, COUNT_MAX);
        long seconds = count == 7 ? number(arguments[6], 1, 86400) : 30;
        receive(client_connected(&psk, host, port), messages, seconds);
    } else if (count == 6 && (strcmp(mode, "send") == 0 || strcmp(mode, "flood") == 0)) {
        long messages = number(arguments[5], 1, COUNT_MAX);
        has_nagle = strcmp(mode, "flood") == 0;
        send_all(client_connected(&psk, host, port), messages, has_nagle ? 0 : MILLISECOND);
    } else if (count == 5 && strcmp(mode, "connect") == 0) {
        client_connected(&psk, host, port);
        printf("%lld\n", (long long)clock_nanoseconds(CLOCK_REALTIME));
    } else if (count == 6 && strcmp(mode, "crowd") == 0) {
        crowd(&psk, host, port, number(arguments[5], 1, CLIENTS_MAX));
    } else {
        goto usage;
    }
    return 0;
usage:
    fprintf(stderr, "usage: mqtt_peer receive KEYS HOST PORT COUNT [SECONDS] | send|flood KEYS HOST PORT COUNT |\n"
                    "       connect KEYS HOST PORT | crowd KEYS HOST PORT CLIENTS\n");
    return 2;
}
