#pragma once
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
