/* Mutual recursion: three functions call each other in turn, started by three callers. */
#include <stdint.h>
#include <stdlib.h>
#define NOINLINE __attribute__((noinline, noclone))
struct state { uint64_t value; int kind; };
volatile uint64_t sink;
static NOINLINE uint64_t work(uint64_t x) {
    for (int i = 0; i < 20000; i++) x = x * 6364136223846793005u + (x >> 33);
    return x;
}
static uint64_t term(struct state *s, int depth);
static uint64_t factor(struct state *s, int depth);
static NOINLINE uint64_t expression(struct state *s, int depth) {
    volatile unsigned char room[320]; room[0] = depth;
    return (depth == 0 ? work(s->value) : term(s, depth - 1)) + room[0] + s->value;
}
static NOINLINE uint64_t term(struct state *s, int depth) {
    volatile unsigned char room[320]; room[0] = depth;
    return (depth == 0 ? work(s->value) : factor(s, depth - 1)) + room[0] + s->value;
}
static NOINLINE uint64_t factor(struct state *s, int depth) {
    volatile unsigned char room[320]; room[0] = depth;
    return (depth == 0 ? work(s->value) : expression(s, depth - 1)) + room[0] + s->value;
}
#define CALLER(name) static NOINLINE void name(struct state *s, int depth) { volatile uint64_t room[8]; room[0] = expression(s, depth); sink += room[0]; }
CALLER(check)
CALLER(fold)
CALLER(print)
int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 4000;
    struct state *s = malloc(sizeof *s);
    s->value = 3;
    for (int i = 0; i < rounds; i++) check(s, 12);
    for (int i = 0; i < rounds; i++) print(s, 30);
    for (int i = 0; i < rounds; i++) { check(s, 9 + i % 9); fold(s, 15 + i % 3); if (i % 3 == 0) print(s, 27 + i % 9); }
    for (int i = 0; i < rounds; i++) print(s, 54 + i % 9);
    return 0;
}
