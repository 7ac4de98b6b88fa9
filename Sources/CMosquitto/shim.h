#pragma once
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

// Why the broker's certificate was refused, in OpenSSL's words; NULL if it was not. To be asked while the library
// reports the error: afterwards the connection is gone.
static inline const char *rivulet_mosquitto_certificate_fault(struct mosquitto *mosquitto) {
    SSL *ssl = (SSL *)mosquitto_ssl_get(mosquitto);
    if (ssl == NULL) return NULL;
    long result = SSL_get_verify_result(ssl);
    // What the library says by itself, which looks at nothing but the name.
    if (result == X509_V_ERR_UNSPECIFIED) return "the certificate is for another name";
    return result == X509_V_OK ? NULL : X509_verify_cert_error_string(result);
}

// An encrypted key would have OpenSSL ask on the terminal: it gets an empty password instead.
static inline int rivulet_mosquitto_no_password(char *buffer, int size, int is_writing, void *data) {
    (void)is_writing;
    (void)data;
    if (size > 0) buffer[0] = 0;
    return 0;
}
