/* One recursive function with several callers and equal frames. The chains of the shallow callers fit into a
   dump of 8 or 16 KiB, those of the deep one never do. KIND says what the frames of the recursion hold:
   0 numbers only, 1 the same pointer in every frame, 2 a node of one list, the same for all callers. */
#include <stdint.h>
#include <stdlib.h>
#ifndef KIND
#define KIND 0
#endif
#ifndef FRAME
#define FRAME 480
#endif
#define NOINLINE __attribute__((noinline, noclone))
struct node { struct node *next; uint64_t value; };
static struct node *list;
volatile uint64_t sink;

static NOINLINE uint64_t work(uint64_t x) {
    for (int i = 0; i < 20000; i++) x = x * 6364136223846793005u + (x >> 33);
    return x;
}

#if KIND == 0
static NOINLINE uint64_t recurse(int depth) {
    volatile unsigned char room[FRAME];
    room[0] = (unsigned char)depth;
    uint64_t x = depth == 0 ? work(depth) : recurse(depth - 1);
    return x + room[0];
}
#define BEGIN(depth) recurse(depth)
#elif KIND == 1
static NOINLINE uint64_t recurse(struct node *context, int depth) {
    volatile unsigned char room[FRAME];
    room[0] = (unsigned char)depth;
    uint64_t x = depth == 0 ? work(context->value) : recurse(context, depth - 1);
    return x + room[0] + context->value;
}
#define BEGIN(depth) recurse(list, depth)
#else
static NOINLINE uint64_t recurse(struct node *at, int depth) {
    volatile unsigned char room[FRAME];
    room[0] = (unsigned char)depth;
    uint64_t x = depth == 0 ? work(at->value) : recurse(at->next, depth - 1);
    return x + room[0] + at->value;
}
#define BEGIN(depth) recurse(list, depth)
#endif

#define CALLER(name) static NOINLINE void name(int depth) { volatile uint64_t room[8]; room[0] = BEGIN(depth); sink += room[0]; }
CALLER(shallow)
CALLER(middle)
CALLER(deep)

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 4000;
    for (int i = 0; i < 200; i++) {
        struct node *node = malloc(sizeof *node);
        node->next = list; node->value = i; list = node;
    }
    /* Long phases, and short turns. */
    for (int i = 0; i < rounds; i++) shallow(9);
    for (int i = 0; i < rounds; i++) deep(8192 / (FRAME + 32) + 6);
    for (int i = 0; i < rounds; i++) {
        shallow(7 + i % 6);
        middle(10 + i % 3);
        if (i % 4 == 0) deep(8192 / (FRAME + 32) + 3 + i % 5);
    }
    for (int i = 0; i < rounds; i++) deep(16384 / (FRAME + 32) + 5);
    for (int i = 0; i < rounds; i++) middle(8192 * 3 / 2 / (FRAME + 32));
    return 0;
}
