// Variables of many types and places for `cargo lab values`.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

enum color { RED, GREEN = 5, BLUE = 9, NONE = -1 };
typedef enum { SMALL = 1, LARGE = 200 } size_class;
typedef struct point { int x, y; } point;
typedef union either { uint32_t number; float real; char bytes[4]; } either;

typedef struct request {
    const char *path;
    char method[8];
    enum color color;
    unsigned low : 3;
    int middle : 5;
    bool flag : 1;
    unsigned long long wide : 40;
    struct { int inner_a; short inner_b; };
    point corners[3];
    either value;
    double weight;
    struct request *next;
} request;

static volatile long sink;
static __thread int per_thread = 7;
static const char *const methods[] = { "GET", "POST", "DELETE" };
static int table[4] = { 1, 2, 3, 4 };

static inline int clamp(int value, int low, int high) {
    int result = value < low ? low : value;
    if (result > high) {
        int result_before = result;
        result = high;
        sink += result_before;
    }
    return result;
}

static inline uint64_t mix(uint64_t hash, uint32_t piece) {
    uint64_t step = hash ^ piece;
    step *= 0x9e3779b97f4a7c15ull;
    return step ^ step >> 29;
}

NOINLINE static int many(int a, unsigned char b, short c, long d, unsigned e, signed char f, uint16_t g, int64_t h,
                         bool i, enum color j) {
    int sum = a + b + c;
    long other = d * e - f;
    sum += g + (int)h + i + j;
    sink += other;
    return clamp(sum, -1000, 1000);
}

NOINLINE static double numbers(float a, double b, long double c, int n) {
    double sum = a;
    for (int i = 0; i < n; i++) {
        float part = a * (float)i;
        sum += part + b;
    }
    sink += (long)c;
    return sum;
}

NOINLINE static point shift(point p, int by) {
    point moved = { p.x + by, p.y - by };
    sink += moved.x;
    return moved;
}

NOINLINE static uint64_t hash_text(const char *text, size_t length) {
    uint64_t hash = 1469598103934665603ull;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        hash = mix(hash, c);
    }
    return hash;
}

NOINLINE static int walk(request *r, int depth) {
    int total = 0;
    enum color color = r->color;
    size_class class = depth > 2 ? LARGE : SMALL;
    request local = *r;
    snprintf(local.method, sizeof local.method, "%s", methods[depth % 3]);
    local.next = r;
    if (depth > 0)
        total += walk(&local, depth - 1);
    total += (int)(hash_text(local.path, strlen(local.path)) & 0xff);
    for (int i = 0; i < 3; i++) {
        point *corner = &local.corners[i];
        corner->x += i;
        total += clamp(corner->x, 0, 50);
    }
    sink += color + class + local.middle;
    return total;
}

NOINLINE static long unused_later(long first, long second, const char *name) {
    long third = first * 3;
    sink += third + second;
    printf("%s %ld\n", name, third);
    return third + 1;
}

NOINLINE static int tail_to(int a, int b) { sink += a; return many(b, 2, 3, 4, 5, 6, 7, 8, true, GREEN); }
NOINLINE static int tail_from(int a, int b) { sink += b; return tail_to(a + 1, b * 2); }

static int compare(const void *left, const void *right) {
    const int *a = left, *b = right;
    int difference = *a - *b;
    sink += difference;
    return difference;
}

NOINLINE static int apply(int (*function)(int, int), int a, int b) {
    int result = function(a, b);
    int again = function(result, a);
    return result + again;
}

NOINLINE static int shadow(int value) {
    int x = value + 1;
    for (int i = 0; i < 2; i++) {
        long x = i * 10L;
        sink += x;
        {
            const char *x = methods[i];
            sink += x[0];
        }
        sink += x;
    }
    static int calls;
    calls += x;
    per_thread += calls;
    return calls;
}

NOINLINE static unsigned __int128 big(unsigned long a, __int128 b) {
    unsigned __int128 product = (unsigned __int128)a * (unsigned __int128)b;
    sink += (long)(product >> 64);
    return product;
}

NOINLINE static int arrays(int n) {
    int fixed[6] = { 1, -2, 3, -4, 5, -6 };
    uint8_t bytes[4] = { 1, 2, 3, 255 };
    char text[40];
    int grid[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
    char open[n];
    memset(open, 'a', (size_t)n);
    snprintf(text, sizeof text, "n is %d", n);
    qsort(fixed, 6, sizeof fixed[0], compare);
    int *pointer = fixed + n % 6;
    sink += *pointer + bytes[n & 3] + grid[n & 1][n % 3] + open[0] + (long)strlen(text) + table[n & 3];
    return fixed[0];
}

int main(int argc, char **argv) {
    request first = { .path = "/search", .color = BLUE, .low = 5, .middle = -7, .flag = true, .wide = 0x123456789aull,
                      .corners = { { 1, 2 }, { 30, 40 }, { 500, 600 } }, .value = { .real = 1.5f }, .weight = 2.25 };
    first.inner_a = 77;
    first.inner_b = -3;
    long total = 0;
    char *owned = strdup("on the heap");
    for (int round = 0; round < 4 + argc; round++) {
        total += walk(&first, round & 3);
        total += many(round, 200, -5, 1L << 33, 7, -8, 60000, -9, round & 1, NONE);
        total += (long)numbers(0.5f, 1.25, 3.0L, round);
        point moved = shift(first.corners[round % 3], round);
        total += moved.x + moved.y;
        total += unused_later(round, total, owned);
        total += apply(round & 1 ? tail_from : tail_to, round, 3);
        total += shadow(round);
        total += (long)big((unsigned long)round + 1, -round);
        total += arrays(round + 3);
        first.color = round & 1 ? RED : 3;
    }
    printf("%ld %s\n", total, argv[0] ? "done" : "");
    free(owned);
    return 0;
}
