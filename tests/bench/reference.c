// What reading the batches of a segment costs at least: pread, header after header, hardware CRC-32C.
// Built and called by engine.py, which compares kcheck with it. Only for files of whole batches of magic 2.
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER (1 << 20)
#define HEADER 61
#define UNSUMMED 21

static uint32_t be32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint64_t be64(const uint8_t *p) { return (uint64_t)be32(p) << 32 | be32(p + 4); }

#ifdef __SSE4_2__
#include <nmmintrin.h>

static uint64_t eight(const uint8_t *p) {
    uint64_t word;
    memcpy(&word, p, 8);
    return word;
}

// The instruction takes three cycles and can be issued in each: three parts side by side, joined by a table that
// leads a register over as many zero bytes as a part has.
enum { LONG = 1024, SHORT = 128 };
static uint32_t over_long[4][256], over_short[4][256];

static void fill(uint32_t table[4][256], int size) {
    for (int byte = 0; byte < 4; byte++)
        for (uint32_t value = 0; value < 256; value++) {
            uint64_t crc = value << 8 * byte;
            for (int at = 0; at < size; at += 8)
                crc = _mm_crc32_u64(crc, 0);
            table[byte][value] = (uint32_t)crc;
        }
}

static void prepare(void) {
    fill(over_long, LONG);
    fill(over_short, SHORT);
}

static uint32_t over(uint32_t table[4][256], uint32_t crc) {
    return table[0][crc & 255] ^ table[1][crc >> 8 & 255] ^ table[2][crc >> 16 & 255] ^ table[3][crc >> 24];
}

static inline uint32_t three(uint32_t crc, const uint8_t *p, int size, uint32_t table[4][256]) {
    uint64_t a = crc, b = 0, c = 0;
    for (int at = 0; at < size; at += 8) {
        a = _mm_crc32_u64(a, eight(p + at));
        b = _mm_crc32_u64(b, eight(p + size + at));
        c = _mm_crc32_u64(c, eight(p + 2 * size + at));
    }
    return over(table, over(table, (uint32_t)a) ^ (uint32_t)b) ^ (uint32_t)c;
}

static uint32_t crc32c(const uint8_t *p, size_t size) {
    uint32_t crc = 0xffffffff;
    for (; size >= 3 * LONG; size -= 3 * LONG, p += 3 * LONG)
        crc = three(crc, p, LONG, over_long);
    for (; size >= 3 * SHORT; size -= 3 * SHORT, p += 3 * SHORT)
        crc = three(crc, p, SHORT, over_short);
    for (; size >= 8; size -= 8, p += 8)
        crc = (uint32_t)_mm_crc32_u64(crc, eight(p));
    for (; size; size--)
        crc = _mm_crc32_u8(crc, *p++);
    return ~crc;
}

int is_hardware(void) { return 1; }
#else
static uint32_t table[256];

static void prepare(void) {
    for (uint32_t value = 0; value < 256; value++) {
        table[value] = value;
        for (int bit = 0; bit < 8; bit++)
            table[value] = table[value] >> 1 ^ (table[value] & 1 ? 0x82f63b78 : 0);
    }
}

static uint32_t crc32c(const uint8_t *p, size_t size) {
    uint32_t crc = 0xffffffff;
    while (size--)
        crc = crc >> 8 ^ table[(crc ^ *p++) & 255];
    return ~crc;
}

int is_hardware(void) { return 0; }
#endif

// Returns how many batches a file holds, -1 if it is not whole; `verify` sums each of them.
int64_t walk(const char *path, int verify) {
    static uint8_t buffer[BUFFER];
    static volatile uint64_t seen;
    prepare();
    int file = open(path, O_RDONLY);
    int64_t count = 0;
    off_t position = 0;
    size_t have = 0;
    ssize_t more;
    while (file >= 0 && (more = pread(file, buffer + have, BUFFER - have, position)) > 0) {
        position += more;
        have += more;
        size_t at = 0;
        while (at + HEADER <= have) {
            const uint8_t *header = buffer + at;
            size_t size = be32(header + 8) + 12;
            if (size < HEADER || header[16] != 2 || at + size > have)
                break;
            if (verify && crc32c(header + UNSUMMED, size - UNSUMMED) != be32(header + 17)) {
                close(file);
                return -1;
            }
            seen += be64(header) + be32(header + 12) + be32(header + 23) + be64(header + 35) + be32(header + 57);
            at += size;
            count++;
        }
        memmove(buffer, buffer + at, have -= at);
    }
    close(file);
    return have ? -1 : count;
}
