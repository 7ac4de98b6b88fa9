#pragma once
#include <microhttpd.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>

// MHD_start_daemon and MHD_get_connection_info take variable arguments, which Swift cannot pass.

struct rivulet_http_options {
    const struct sockaddr *address;
    unsigned int connections;
    unsigned int idle_seconds;
    size_t connection_memory;
    // PEM, with a zero at the end; both NULL without TLS.
    const char *key;
    const char *certificate;
};

/// MHD_UnescapeCallback. A zero byte stays as it was written, `%00`: paths and arguments come to us as C strings, which
/// would end there, and `/api/fleet%00.css` would be `/api/fleet` here and a style sheet for a proxy in front.
static inline size_t rivulet_http_unescape(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strstr(text, "%00") ? strlen(text) : MHD_http_unescape(text);
}

/// MHD_start_daemon, with a thread of its own that polls.
static inline struct MHD_Daemon *rivulet_http_start(
    const struct rivulet_http_options *options, MHD_AccessHandlerCallback handler, void *context,
    MHD_RequestCompletedCallback completed, MHD_NotifyConnectionCallback noticed)
{
    unsigned int flags =
        MHD_USE_EPOLL | MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    if (options->key != NULL) flags |= MHD_USE_TLS;
    if (options->address->sa_family == AF_INET6) {
        // `::` stands for every address, those of IPv4 included.
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)options->address;
        flags |= IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr) ? MHD_USE_DUAL_STACK : MHD_USE_IPv6;
    }
    struct MHD_OptionItem items[] = {
        {MHD_OPTION_SOCK_ADDR, 0, (void *)options->address},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)completed, context},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)noticed, context},
        {MHD_OPTION_CONNECTION_LIMIT, options->connections, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, options->idle_seconds, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)options->connection_memory, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)rivulet_http_unescape, NULL},
        {options->key ? MHD_OPTION_HTTPS_MEM_KEY : MHD_OPTION_END, 0, (void *)options->key},
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)options->certificate},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(
        flags, 0, NULL, NULL, handler, context, MHD_OPTION_ARRAY, items, MHD_OPTION_END);
}

/// MHD_get_connection_info: the address that a request came from.
static inline const struct sockaddr *rivulet_http_source(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

/// MHD_get_connection_info: the socket of a connection; -1 if it has none.
static inline int rivulet_http_socket(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/// MHD_CONNECTION_NOTIFY_STARTED: the constant is imported under different names.
static inline int rivulet_http_is_opened(enum MHD_ConnectionNotificationCode code)
{
    return code == MHD_CONNECTION_NOTIFY_STARTED;
}

/// MHD_is_feature_supported(MHD_FEATURE_TLS): the constant is imported under different names.
static inline int rivulet_http_has_tls(void) { return MHD_is_feature_supported(MHD_FEATURE_TLS) == MHD_YES; }
