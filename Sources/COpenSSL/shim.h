// What Swift cannot see of OpenSSL because it is a macro: static inline functions, nothing else.
// Serves OpenSSL 3.0 and later.
#pragma once
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <sys/time.h>

/// DTLSv1_get_timeout: microseconds until the retransmission is due by the wall clock; -1 if no
/// timer runs.
static inline int64_t shim_DTLSv1_get_timeout(SSL *ssl) {
    struct timeval left = {0, 0};
    if (!DTLSv1_get_timeout(ssl, &left)) return -1;
    return (int64_t)left.tv_sec * 1000000 + left.tv_usec;
}

/// DTLSv1_handle_timeout: 1 retransmitted, 0 not due yet, -1 given up.
static inline int shim_DTLSv1_handle_timeout(SSL *ssl) { return (int)DTLSv1_handle_timeout(ssl); }

/// SSL_set_mtu: the largest datagram, bytes. Counts only with SSL_OP_NO_QUERY_MTU.
static inline void shim_SSL_set_mtu(SSL *ssl, long mtu) { SSL_set_mtu(ssl, mtu); }

/// SSL_get_extms_support: whether the handshake used the extended master secret (RFC 7627).
static inline int shim_SSL_get_extms_support(SSL *ssl) { return SSL_get_extms_support(ssl) == 1; }

/// SSL_CTX_set_min_proto_version and SSL_CTX_set_max_proto_version: DTLS 1.2, nothing else.
static inline int shim_SSL_CTX_require_DTLS_1_2(SSL_CTX *context) {
    return SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) == 1
        && SSL_CTX_set_max_proto_version(context, DTLS1_2_VERSION) == 1;
}

/// SSL_CTX_set_options: own MTU, no tickets, no renegotiation, no compression, our order of suites.
static inline void shim_SSL_CTX_set_options(SSL_CTX *context) {
    SSL_CTX_set_options(
        context, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION
                     | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
}

/// SSL_CTX_set_session_cache_mode: off.
static inline void shim_SSL_CTX_disable_session_cache(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

/// SSL_CTX_set1_groups_list
static inline int shim_SSL_CTX_set1_groups_list(SSL_CTX *context, const char *groups) {
    return SSL_CTX_set1_groups_list(context, groups) == 1;
}

/// SSL_CTX_set1_sigalgs_list and SSL_CTX_set1_client_sigalgs_list
static inline int shim_SSL_CTX_set1_sigalgs_list(SSL_CTX *context, const char *algorithms) {
    return SSL_CTX_set1_sigalgs_list(context, algorithms) == 1
        && SSL_CTX_set1_client_sigalgs_list(context, algorithms) == 1;
}

/// SSL_CTX_set_max_cert_list: the most bytes of certificates that the other side may make us hold.
static inline void shim_SSL_CTX_set_max_cert_list(SSL_CTX *context, long bytes) {
    SSL_CTX_set_max_cert_list(context, bytes);
}

/// BIO_set_retry_read: "nothing there yet" instead of an error.
static inline void shim_BIO_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }

/// BIO_clear_retry_flags
static inline void shim_BIO_clear_retry_flags(BIO *bio) { BIO_clear_retry_flags(bio); }

/// BIO_get_mem_data: the bytes that a memory BIO holds; they belong to it.
static inline long shim_BIO_get_mem_data(BIO *bio, char **bytes) {
    return BIO_get_mem_data(bio, bytes);
}

/// EVP_EC_gen: a new key on the named curve; NULL on failure.
static inline EVP_PKEY *shim_EVP_EC_gen(const char *curve) { return EVP_EC_gen(curve); }

/// EVP_RSA_gen: a new RSA key of so many bits; NULL on failure.
static inline EVP_PKEY *shim_EVP_RSA_gen(unsigned int bits) { return EVP_RSA_gen(bits); }
