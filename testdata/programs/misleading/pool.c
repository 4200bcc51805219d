/* Threads of a pool run different jobs one after another: the frames of all jobs are equal and in the same slots, and
   all call the same functions. The chains of one job fit into the dump, those of the other never do. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
/* Touches all pages, so that the dump has its full length. */
#define TOUCH for (unsigned i = 0; i < sizeof room; i += 512) room[i] = 1; room[1] = 1
#define NOINLINE __attribute__((noinline, noclone))
struct context { uint64_t value; uint64_t more; };
static struct context *shared;
static int rounds = 3000;
volatile uint64_t sink;
static NOINLINE uint64_t work(uint64_t x) {
    for (int i = 0; i < 20000; i++) x = x * 6364136223846793005u + (x >> 33);
    return x;
}
static NOINLINE uint64_t large(struct context *c) { volatile unsigned char room[7000]; TOUCH; return work(c->value) + room[1] + c->more; }
static NOINLINE uint64_t larger(struct context *c) { volatile unsigned char room[15000]; TOUCH; return work(c->value) + room[1] + c->more; }
static NOINLINE uint64_t small(struct context *c) { volatile unsigned char room[100]; room[1] = 1; return work(c->value) + room[1] + c->more; }
static NOINLINE uint64_t inner(struct context *c, int kind) {
    volatile unsigned char room[600]; room[1] = 1;
    uint64_t x = kind == 0 ? small(c) : kind == 1 ? large(c) : larger(c);
    return x + room[1] + c->more;
}
static NOINLINE uint64_t step(struct context *c, int kind) {
    volatile unsigned char room[600]; room[1] = 1;
    return inner(c, kind) + room[1] + c->more;
}
#define JOB(name, kind) static NOINLINE uint64_t name(struct context *c) { volatile unsigned char room[600]; room[1] = 1; return step(c, kind) + room[1] + c->value; }
JOB(resize, 0)
JOB(encode, 1)
JOB(archive, 2)
typedef uint64_t (*job)(struct context *);
static void *worker(void *which) {
    job jobs[] = { resize, encode, resize, archive, resize };
    for (int n = 0; n < 5; n++)
        for (int i = 0; i < rounds; i++) sink += jobs[n](shared);
    for (int i = 0; i < rounds; i++) sink += jobs[(i + (intptr_t)which) % 5](shared);
    return 0;
}
int main(int argc, char **argv) {
    if (argc > 1) rounds = atoi(argv[1]);
    shared = malloc(sizeof *shared);
    shared->value = shared->more = 3;
    pthread_t threads[2];
    for (intptr_t i = 0; i < 2; i++) pthread_create(&threads[i], 0, worker, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
