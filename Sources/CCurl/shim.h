#pragma once
#include <curl/curl.h>

// curl_easy_setopt and curl_easy_getinfo take any number of arguments, which Swift cannot call.

/// curl_easy_setopt
static inline CURLcode ccurl_set_long(CURL *curl, CURLoption option, long value) {
    return curl_easy_setopt(curl, option, value);
}

/// curl_easy_setopt; libcurl copies the text.
static inline CURLcode ccurl_set_text(CURL *curl, CURLoption option, const char *text) {
    return curl_easy_setopt(curl, option, text);
}

/// curl_easy_setopt; what the pointer leads to must outlive the transfer.
static inline CURLcode ccurl_set_pointer(CURL *curl, CURLoption option, void *pointer) {
    return curl_easy_setopt(curl, option, pointer);
}

/// curl_easy_setopt(CURLOPT_POSTFIELDS, CURLOPT_POSTFIELDSIZE_LARGE); the body is not copied.
static inline CURLcode ccurl_set_body(CURL *curl, const void *body, size_t count) {
    CURLcode code = curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    return code != CURLE_OK ? code : curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
}

/// curl_easy_setopt(CURLOPT_WRITEFUNCTION, CURLOPT_WRITEDATA)
static inline CURLcode ccurl_set_writer(
    CURL *curl, size_t (*writer)(char *, size_t, size_t, void *), void *context) {
    CURLcode code = curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, writer);
    return code != CURLE_OK ? code : curl_easy_setopt(curl, CURLOPT_WRITEDATA, context);
}

/// curl_easy_setopt(CURLOPT_HTTPHEADER)
static inline CURLcode ccurl_set_headers(CURL *curl, struct curl_slist *headers) {
    return curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
}

/// curl_easy_getinfo(CURLINFO_RESPONSE_CODE)
static inline long ccurl_status(CURL *curl) {
    long status = 0;
    return curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? status : 0;
}

/// curl_easy_getinfo(CURLINFO_OS_ERRNO)
static inline long ccurl_errno(CURL *curl) {
    long code = 0;
    return curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &code) == CURLE_OK ? code : 0;
}

/// curl_easy_getinfo(CURLINFO_RETRY_AFTER): seconds; 0 if the answer says nothing.
static inline long long ccurl_retry_after(CURL *curl) {
    curl_off_t seconds = 0;
    return curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK ? seconds : 0;
}

/// CURL_SSLVERSION_TLSv1_2, CURL_HTTP_VERSION_1_1: of different types in different versions.
static inline long ccurl_tls_1_2(void) { return (long)CURL_SSLVERSION_TLSv1_2; }
static inline long ccurl_http_1_1(void) { return (long)CURL_HTTP_VERSION_1_1; }

/// CURLAUTH_BASIC
static inline long ccurl_auth_basic(void) { return (long)CURLAUTH_BASIC; }

/// curl_easy_setopt(CURLOPT_XFERINFOFUNCTION, CURLOPT_XFERINFODATA, CURLOPT_NOPROGRESS): called
/// once a second at least; what is not 0 ends the transfer.
static inline CURLcode ccurl_set_watcher(
    CURL *curl, int (*watcher)(void *, curl_off_t, curl_off_t, curl_off_t, curl_off_t),
    void *context) {
    CURLcode code = curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, watcher);
    if (code == CURLE_OK) code = curl_easy_setopt(curl, CURLOPT_XFERINFODATA, context);
    return code != CURLE_OK ? code : curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
}
