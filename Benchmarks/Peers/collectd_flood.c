// collectd_flood ADDRESS USER PASSWORD-FILE SECONDS PACKETS-A-SECOND: what four hosts with twenty channels each send to
// a collectd, encrypted as its plugin `network` does it (AES-256 in OFB mode, SHA-1), two seconds of one host a packet;
// no time comes twice. Prints how many values it sent.
#include <arpa/inet.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { HOSTS = 4, CHANNELS = 20, SECONDS_A_PACKET = 2, PORT = 25826 };
enum { HOST = 0, PLUGIN = 2, TYPE = 4, INSTANCE = 5, VALUES = 6, TIME = 8, INTERVAL = 9, ENCRYPTED = 0x0210 };

static void die(const char *what) {
    perror(what);
    exit(1);
}

static uint8_t *put(uint8_t *to, uint64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; i--) *to++ = (uint8_t)(value >> (8 * i));
    return to;
}

static uint8_t *put_text(uint8_t *to, int type, const char *text) {
    size_t size = strlen(text) + 1;
    to = put(put(to, (uint64_t)type, 2), size + 4, 2);
    memcpy(to, text, size);
    return to + size;
}

// Times are 1/2^30 s.
static uint8_t *put_number(uint8_t *to, int type, uint64_t value) {
    return put(put(put(to, (uint64_t)type, 2), 12, 2), value << 30, 8);
}

// A gauge is a double in x86's order.
static uint8_t *put_gauge(uint8_t *to, double value) {
    to = put(put(put(put(to, VALUES, 2), 15, 2), 1, 2), 1, 1);
    memcpy(to, &value, 8);
    return to + 8;
}

static double value(uint64_t second, int channel) { return 20 + (double)(second % 5) + channel / 100.0; }

static uint8_t *put_readings(uint8_t *to, int host, uint64_t second) {
    char name[32];
    snprintf(name, sizeof name, "flood%d", host);
    to = put_text(to, HOST, name);
    to = put_number(to, INTERVAL, 1);
    to = put_text(put_text(to, PLUGIN, "tail_csv"), TYPE, "gauge");
    for (int part = 0; part < SECONDS_A_PACKET; part++) {
        to = put_number(to, TIME, second + (uint64_t)part);
        for (int channel = 1; channel <= CHANNELS; channel++) {
            snprintf(name, sizeof name, "channel%d", channel);
            to = put_gauge(put_text(to, INSTANCE, name), value(second + (uint64_t)part, channel));
        }
    }
    return to;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
    if (count != 6) return 64;
    const char *user = arguments[2];
    char password[256] = "";
    FILE *file = fopen(arguments[3], "r");
    if (!file || !fgets(password, sizeof password, file)) die(arguments[3]);
    password[strcspn(password, "\n")] = 0;
    double seconds = atof(arguments[4]), rate = atof(arguments[5]);
    uint8_t key[32];
    EVP_Digest(password, strlen(password), key, NULL, EVP_sha256(), NULL);

    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    if (inet_pton(AF_INET, arguments[1], &address.sin_addr) != 1) return 64;
    int descriptor = socket(AF_INET, SOCK_DGRAM, 0);
    if (descriptor < 0 || connect(descriptor, (struct sockaddr *)&address, sizeof address)) die("socket");

    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    const size_t head = 6 + strlen(user) + 16;
    uint8_t packet[2048], plain[2048];
    uint64_t sent = 0, second = (uint64_t)time(NULL);
    double began = now();
    while (now() - began < seconds) {
        for (int host = 0; host < HOSTS; host++) {
            while ((double)sent > (now() - began) * rate) {
                struct timespec pause = {.tv_nsec = 200000};
                nanosleep(&pause, NULL);
            }
            size_t size = (size_t)(put_readings(plain + 20, host, second) - plain);
            EVP_Digest(plain + 20, size - 20, plain, NULL, EVP_sha1(), NULL);
            uint8_t *to = put(put(put(packet, ENCRYPTED, 2), head + size, 2), strlen(user), 2);
            memcpy(to, user, strlen(user));
            to += strlen(user);
            RAND_bytes(to, 16);
            int made = 0;
            if (!EVP_EncryptInit_ex(cipher, EVP_aes_256_ofb(), NULL, key, to) ||
                !EVP_EncryptUpdate(cipher, to + 16, &made, plain, (int)size)) return 1;
            if (head + size > 1452) return 1;
            if (send(descriptor, packet, head + size, 0) < 0) die("send");
            sent++;
        }
        second += SECONDS_A_PACKET;
    }
    printf("%llu\n", (unsigned long long)sent * SECONDS_A_PACKET * CHANNELS);
    return 0;
}
