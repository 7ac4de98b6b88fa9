#pragma once
#include <dlfcn.h>
#include <stddef.h>
// Swift's Glibc module has <sys/select.h> and <time.h>, as avahi-common/watch.h wants them.
#include <sys/select.h>
#include <sys/time.h>
#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-client/publish.h>
#include <avahi-common/address.h>
#include <avahi-common/error.h>
#include <avahi-common/strlst.h>
#include <avahi-common/watch.h>

// The union in AvahiAddress: four bytes for IPv4, sixteen for IPv6, in network order.
static inline const uint8_t *cavahi_address_bytes(const AvahiAddress *address) {
    return address->data.data;
}

// The libraries are not linked, but loaded when they are needed (AvahiLibrary.swift). The functions that are called:
typedef struct {
    __typeof__(avahi_strerror) *strerror;
    __typeof__(avahi_string_list_free) *string_list_free;
    __typeof__(avahi_string_list_parse) *string_list_parse;
    __typeof__(avahi_string_list_serialize) *string_list_serialize;
    __typeof__(avahi_client_new) *client_new;
    __typeof__(avahi_client_errno) *client_errno;
    __typeof__(avahi_client_free) *client_free;
    __typeof__(avahi_entry_group_new) *entry_group_new;
    __typeof__(avahi_entry_group_add_service_strlst) *entry_group_add_service_strlst;
    __typeof__(avahi_entry_group_commit) *entry_group_commit;
    __typeof__(avahi_entry_group_free) *entry_group_free;
    __typeof__(avahi_service_browser_new) *service_browser_new;
    __typeof__(avahi_service_browser_free) *service_browser_free;
    __typeof__(avahi_service_resolver_new) *service_resolver_new;
    __typeof__(avahi_service_resolver_free) *service_resolver_free;
} CAvahiFunctions;

// The number is that of its ABI (soname), the same since Debian 5.
#define CAVAHI_LIBRARY "libavahi-client.so.3"

// Loads libavahi-client and what it needs, for good: libdbus cannot be unloaded and loaded again. Returns what the
// functions below take; or null, and the fault, if the library is missing or lacks a function.
static inline void *_Nullable cavahi_load(const char *_Nullable *_Nonnull fault) {
    static CAvahiFunctions functions;
    void *library = dlopen(CAVAHI_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) return *fault = dlerror(), NULL;
#define CAVAHI_FIND(name) \
    functions.name = (__typeof__(functions.name))dlsym(library, "avahi_" #name); \
    if (!functions.name) return *fault = dlerror(), NULL;
    CAVAHI_FIND(strerror)
    CAVAHI_FIND(string_list_free)
    CAVAHI_FIND(string_list_parse)
    CAVAHI_FIND(string_list_serialize)
    CAVAHI_FIND(client_new)
    CAVAHI_FIND(client_errno)
    CAVAHI_FIND(client_free)
    CAVAHI_FIND(entry_group_new)
    CAVAHI_FIND(entry_group_add_service_strlst)
    CAVAHI_FIND(entry_group_commit)
    CAVAHI_FIND(entry_group_free)
    CAVAHI_FIND(service_browser_new)
    CAVAHI_FIND(service_browser_free)
    CAVAHI_FIND(service_resolver_new)
    CAVAHI_FIND(service_resolver_free)
#undef CAVAHI_FIND
    return &functions;
}

// The library's own function of this name, not the program's; null if the library is not loaded or has none.
static inline void *_Nullable cavahi_symbol(const char *_Nonnull name) {
    void *library = dlopen(CAVAHI_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    return library ? dlsym(library, name) : NULL;
}

static inline const char *_Nullable cavahi_strerror(
    void *_Nonnull of, int error) {
    return ((CAvahiFunctions *)of)->strerror(error);
}

static inline void cavahi_string_list_free(
    void *_Nonnull of, AvahiStringList *_Nullable list) {
    ((CAvahiFunctions *)of)->string_list_free(list);
}

static inline int cavahi_string_list_parse(
    void *_Nonnull of, const void *_Nonnull data, size_t size, AvahiStringList *_Nullable *_Nonnull list) {
    return ((CAvahiFunctions *)of)->string_list_parse(data, size, list);
}

static inline size_t cavahi_string_list_serialize(
    void *_Nonnull of, AvahiStringList *_Nullable list, void *_Nullable data, size_t size) {
    return ((CAvahiFunctions *)of)->string_list_serialize(list, data, size);
}

static inline AvahiClient *_Nullable cavahi_client_new(
    void *_Nonnull of, const AvahiPoll *_Nonnull poll, AvahiClientFlags flags,
    AvahiClientCallback _Nonnull callback,
    void *_Nullable context, int *_Nonnull error) {
    return ((CAvahiFunctions *)of)->client_new(poll, flags, callback, context, error);
}

static inline int cavahi_client_errno(
    void *_Nonnull of, AvahiClient *_Nullable client) {
    return ((CAvahiFunctions *)of)->client_errno(client);
}

static inline void cavahi_client_free(
    void *_Nonnull of, AvahiClient *_Nonnull client) {
    ((CAvahiFunctions *)of)->client_free(client);
}

static inline AvahiEntryGroup *_Nullable cavahi_entry_group_new(
    void *_Nonnull of, AvahiClient *_Nonnull client,
    AvahiEntryGroupCallback _Nonnull callback, void *_Nullable context) {
    return ((CAvahiFunctions *)of)->entry_group_new(client, callback, context);
}

static inline int cavahi_entry_group_add_service_strlst(
    void *_Nonnull of, AvahiEntryGroup *_Nonnull group, AvahiIfIndex link, AvahiProtocol protocol,
    AvahiPublishFlags flags,
    const char *_Nonnull name, const char *_Nonnull type, uint16_t port, AvahiStringList *_Nullable text) {
    return ((CAvahiFunctions *)of)->entry_group_add_service_strlst(
        group, link, protocol, flags, name, type, NULL, NULL, port, text);
}

static inline int cavahi_entry_group_commit(
    void *_Nonnull of, AvahiEntryGroup *_Nonnull group) {
    return ((CAvahiFunctions *)of)->entry_group_commit(group);
}

static inline void cavahi_entry_group_free(
    void *_Nonnull of, AvahiEntryGroup *_Nonnull group) {
    ((CAvahiFunctions *)of)->entry_group_free(group);
}

static inline AvahiServiceBrowser *_Nullable cavahi_service_browser_new(
    void *_Nonnull of, AvahiClient *_Nonnull client, AvahiIfIndex link, AvahiProtocol protocol,
    const char *_Nonnull type,
    AvahiServiceBrowserCallback _Nonnull callback, void *_Nullable context) {
    return ((CAvahiFunctions *)of)->service_browser_new(
        client, link, protocol, type, NULL, 0, callback, context);
}

static inline void cavahi_service_browser_free(
    void *_Nonnull of, AvahiServiceBrowser *_Nonnull browser) {
    ((CAvahiFunctions *)of)->service_browser_free(browser);
}

static inline AvahiServiceResolver *_Nullable cavahi_service_resolver_new(
    void *_Nonnull of, AvahiClient *_Nonnull client, AvahiIfIndex link, AvahiProtocol protocol,
    const char *_Nonnull name,
    const char *_Nonnull type, const char *_Nonnull domain, AvahiProtocol address,
    AvahiServiceResolverCallback _Nonnull callback, void *_Nullable context) {
    return ((CAvahiFunctions *)of)->service_resolver_new(
        client, link, protocol, name, type, domain, address, 0, callback, context);
}

static inline void cavahi_service_resolver_free(
    void *_Nonnull of, AvahiServiceResolver *_Nonnull resolver) {
    ((CAvahiFunctions *)of)->service_resolver_free(resolver);
}
