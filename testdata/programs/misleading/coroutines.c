/* Coroutines that run in turn on one stack, each with another first function: frames are equal and in the same
   slots. The chains of one fit into the dump, those of the others never do. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#define NOINLINE __attribute__((noinline, noclone))
struct context { uint64_t value; uint64_t more; };
static struct context *shared;
static ucontext_t back, forth;
volatile uint64_t sink;
static NOINLINE uint64_t work(uint64_t x) {
    for (int i = 0; i < 20000; i++) x = x * 6364136223846793005u + (x >> 33);
    return x;
}
static NOINLINE uint64_t descend(struct context *c, int depth) {
    volatile unsigned char room[400]; room[1] = depth;
    if (depth == 0) { uint64_t x = work(c->value); swapcontext(&forth, &back); return x; }
    return descend(c, depth - 1) + room[1] + c->more;
}
static NOINLINE uint64_t parse(struct context *c, int depth) { volatile unsigned char room[400]; room[1] = 1; return descend(c, depth) + room[1] + c->more; }
#define FIRST(name, depth) static NOINLINE void name(void) { volatile unsigned char room[400]; room[1] = 1; for (;;) sink += parse(shared, depth) + room[1]; }
FIRST(reader, 9)
FIRST(writer, 24)
FIRST(mixer, 44)
int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 3000;
    shared = malloc(sizeof *shared);
    shared->value = shared->more = 3;
    void (*firsts[])(void) = { reader, writer, reader, mixer, writer, reader };
    size_t size = 256 << 10;
    void *stack = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int n = 0; n < 12; n++) {
        getcontext(&forth);
        forth.uc_stack.ss_sp = stack;
        forth.uc_stack.ss_size = size;
        makecontext(&forth, firsts[n % 6], 0);
        for (int i = 0; i < rounds; i++) swapcontext(&back, &forth);
    }
    return 0;
}
