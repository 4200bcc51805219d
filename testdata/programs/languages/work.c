/* What programs do, in C: recursion, callbacks, a table of functions, memory, a thread. About two seconds of work; the
   argument multiplies it. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tree { struct tree *left, *right; uint32_t key; };
static uint32_t seed = 1;
static uint32_t next(void) { seed ^= seed << 13; seed ^= seed >> 17; seed ^= seed << 5; return seed; }

__attribute__((noinline)) static unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) static int ackermann(int m, int n) { return m == 0 ? n + 1 : ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1)); }
__attribute__((noinline)) static struct tree *insert(struct tree *at, uint32_t key) {
    if (!at) { at = calloc(1, sizeof *at); at->key = key; return at; }
    if (key < at->key) at->left = insert(at->left, key); else at->right = insert(at->right, key);
    return at;
}
__attribute__((noinline)) static uint64_t sum(const struct tree *at) { return at ? at->key + sum(at->left) + sum(at->right) : 0; }
__attribute__((noinline)) static void drop(struct tree *at) { if (at) { drop(at->left); drop(at->right); free(at); } }
static int compare(const void *a, const void *b) { uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b; return (x > y) - (x < y); }

__attribute__((noinline)) static uint64_t numbers(void) { return fib(29); }
__attribute__((noinline)) static uint64_t nested(void) { return (uint64_t)ackermann(2, 300); }
__attribute__((noinline)) static uint64_t trees(void) {
    struct tree *root = NULL;
    for (int i = 0; i < 20000; i++) root = insert(root, next());
    uint64_t all = sum(root);
    drop(root);
    return all;
}
__attribute__((noinline)) static uint64_t sorted(void) {
    static uint32_t list[40000];
    for (int i = 0; i < 40000; i++) list[i] = next();
    qsort(list, 40000, sizeof *list, compare);
    return list[100];
}
__attribute__((noinline)) static uint64_t texts(void) {
    static char text[1 << 18];
    uint64_t all = 0;
    for (int i = 0; i < 12; i++) { memset(text, 'a' + i, sizeof text - 1); all += strlen(text) + (uint64_t)snprintf(text, 64, "%d %f", i, i / 3.0); }
    return all;
}
static uint64_t (*const table[])(void) = { numbers, nested, trees, sorted, texts };

static void *thread(void *argument) {
    uint64_t *all = argument;
    for (int i = 0; i < 12; i++) *all += numbers();
    return NULL;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 40;
    uint64_t all = 0, other = 0;
    pthread_t id;
    pthread_create(&id, NULL, thread, &other);
    for (int i = 0; i < rounds; i++) for (unsigned k = 0; k < sizeof table / sizeof *table; k++) all += table[k]();
    pthread_join(id, NULL);
    return printf("%llu\n", (unsigned long long)(all + other)) < 0;
}
