// A CoAP server and client of libcoap's: round trips over one DTLS session with a pre-shared key.
//
//   coap_peer serve KEYS ADDRESS PORT         answers a POST with what it brought
//   coap_peer ask KEYS ADDRESS PORT COUNT     non-confirmable requests with 100 bytes, one a millisecond; prints
//                                             "p50 p99" of half of the round trip, microseconds
//
// IPv4 only. KEYS is a file with a line "identity:key". The session stands before the first request is timed. Which
// cipher suite it has is said on standard error; libcoap leaves the choice to OpenSSL.

#include "peer.h"
#include <arpa/inet.h>
#include <coap3/coap.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdbool.h>

enum { COUNT_MAX = 1000 * 1000 };

static const char PATH[] = "bench";
static const int64_t CONNECT_LIMIT = 10 * SECOND, ANSWER_LIMIT = 2 * SECOND;

static uint8_t key[KEY_HEX_MAX / 2];
static size_t key_length;
static bool connected;
static long answered;

static void set_key(const struct psk *psk) {
    for (key_length = 0; psk->key[2 * key_length] != 0; key_length++) {
        sscanf(psk->key + 2 * key_length, "%2hhx", &key[key_length]);
    }
}

static coap_address_t address(const char *host, const char *port) {
    coap_address_t result;
    coap_address_init(&result);
    result.size = sizeof result.addr.sin;
    result.addr.sin.sin_family = AF_INET;
    result.addr.sin.sin_port = htons((uint16_t)number(port, 1, 65535));
    if (inet_pton(AF_INET, host, &result.addr.sin.sin_addr) != 1) fail(host, "not an IPv4 address");
    return result;
}

// Waits until there is something to do or the time has come, and does it.
static void serve_until(coap_context_t *context, int64_t deadline) {
    struct pollfd file = {.fd = coap_context_get_coap_fd(context), .events = POLLIN};
    struct timespec rest = until(deadline);
    if (ppoll(&file, 1, &rest, NULL) < 0 && errno != EINTR) fail("ppoll", strerror(errno));
    if (coap_io_process(context, COAP_IO_NO_WAIT) < 0) fail("libcoap", "cannot go on");
}

static coap_context_t *context_new(void) {
    coap_startup();
    coap_context_t *context = coap_new_context(NULL);
    if (context == NULL) fail("coap_new_context", "no context");
    if (coap_context_get_coap_fd(context) < 0) fail("libcoap", "built without epoll");
    return context;
}

static void on_post(coap_resource_t *resource, coap_session_t *session, const coap_pdu_t *request,
                    const coap_string_t *query, coap_pdu_t *response) {
    (void)resource;
    (void)session;
    (void)query;
    size_t length;
    const uint8_t *bytes;
    if (!coap_get_data(request, &length, &bytes)) length = 0;
    coap_pdu_set_code(response, COAP_RESPONSE_CODE_CHANGED);
    if (length > 0) coap_add_data(response, length, bytes);
}

static void serve(const struct psk *psk, coap_address_t here) {
    coap_context_t *context = context_new();
    coap_dtls_spsk_t setup = {.version = COAP_DTLS_SPSK_SETUP_VERSION};
    setup.psk_info.hint = (coap_bin_const_t){strlen(psk->identity), (const uint8_t *)psk->identity};
    setup.psk_info.key = (coap_bin_const_t){key_length, key};
    if (!coap_context_set_psk2(context, &setup)) fail("libcoap", "the key was refused");
    if (coap_new_endpoint(context, &here, COAP_PROTO_DTLS) == NULL) fail("bind", strerror(errno));
    coap_resource_t *resource = coap_resource_init(coap_make_str_const(PATH), 0);
    coap_register_handler(resource, COAP_REQUEST_POST, on_post);
    coap_add_resource(context, resource);
    for (;;) serve_until(context, now() + 3600 * SECOND);
}

static int on_event(coap_session_t *session, const coap_event_t event) {
    (void)session;
    if (event == COAP_EVENT_DTLS_ERROR) fail("DTLS", "the handshake failed");
    if (event == COAP_EVENT_DTLS_CLOSED) fail("DTLS", "closed by the server");
    if (event == COAP_EVENT_DTLS_CONNECTED) connected = true;
    return 0;
}

static coap_response_t on_response(coap_session_t *session, const coap_pdu_t *sent, const coap_pdu_t *received,
                                   const coap_mid_t id) {
    (void)session;
    (void)sent;
    (void)id;
    size_t length;
    const uint8_t *bytes;
    int64_t arrival = now();
    if (coap_pdu_get_code(received) != COAP_RESPONSE_CODE_CHANGED) fail("answer", "not 2.04");
    if (!coap_get_data(received, &length, &bytes) || length != MESSAGE_BYTES) fail("answer", "not of 100 bytes");
    record((arrival - stamp_of(bytes)) / 2);
    answered++;
    return COAP_RESPONSE_OK;
}

static void post(coap_session_t *session) {
    uint8_t message[MESSAGE_BYTES], token[8];
    size_t token_length;
    stamp(message);
    coap_pdu_t *request = coap_new_pdu(COAP_MESSAGE_NON, COAP_REQUEST_CODE_POST, session);
    if (request == NULL) fail("coap_new_pdu", "no memory");
    coap_session_new_token(session, &token_length, token);
    if (!coap_add_token(request, token_length, token) ||
        !coap_add_option(request, COAP_OPTION_URI_PATH, strlen(PATH), (const uint8_t *)PATH) ||
        !coap_add_data(request, MESSAGE_BYTES, message)) {
        fail("request", "too long");
    }
    if (coap_send(session, request) == COAP_INVALID_MID) fail("coap_send", strerror(errno));
}

static void check_encryption(const coap_session_t *session) {
    coap_tls_library_t library;
    const SSL *tls = coap_session_get_tls(session, &library);
    if (tls == NULL || library != COAP_TLS_LIBRARY_OPENSSL) fail("session", "without OpenSSL");
    fprintf(stderr, "%s %s\n", SSL_get_version(tls), SSL_get_cipher_name(tls));
}

static void ask(const struct psk *psk, coap_address_t server, long count) {
    coap_context_t *context = context_new();
    coap_register_event_handler(context, on_event);
    coap_register_response_handler(context, on_response);
    coap_dtls_cpsk_t setup = {.version = COAP_DTLS_CPSK_SETUP_VERSION};
    setup.psk_info.identity = (coap_bin_const_t){strlen(psk->identity), (const uint8_t *)psk->identity};
    setup.psk_info.key = (coap_bin_const_t){key_length, key};
    coap_session_t *session = coap_new_client_session_psk2(context, NULL, &server, COAP_PROTO_DTLS, &setup);
    if (session == NULL) fail("session", strerror(errno));
    int64_t limit = now() + CONNECT_LIMIT;
    while (!connected && now() < limit) serve_until(context, limit);
    if (!connected) fail("DTLS", "no answer");
    check_encryption(session);
    for (long sent = 0; sent < count; sent++) {
        // From this turn, as ours: what is late is not caught up on.
        int64_t due = now() + MILLISECOND;
        post(session);
        while (now() < due) serve_until(context, due);
    }
    limit = now() + ANSWER_LIMIT;
    while (answered < count && now() < limit) serve_until(context, limit);
    fprintf(stderr, "answered %ld of %ld\n", answered, count);
    if (answered < count / 100 * 95) fail("answers", "too few");
    print_times();
    printf("\n");
}

int main(int count, char **arguments) {
    if (count >= 5) {
        struct psk psk = psk_read(arguments[2]);
        set_key(&psk);
        coap_address_t place = address(arguments[3], arguments[4]);
        if (count == 5 && strcmp(arguments[1], "serve") == 0) serve(&psk, place);
        if (count == 6 && strcmp(arguments[1], "ask") == 0) {
            ask(&psk, place, number(arguments[5], 100, COUNT_MAX));
            return 0;
        }
    }
    fprintf(stderr, "usage: coap_peer serve KEYS ADDRESS PORT | ask KEYS ADDRESS PORT COUNT\n");
    return 2;
}
