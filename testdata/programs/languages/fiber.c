/* Two fibers that take turns, each deep in a recursion. */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t home, fibers[2];
static unsigned long sums[2];
static int turns;

__attribute__((noinline)) static unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) static void deep(int self, int n) {
    if (n > 0) { deep(self, n - 1); sums[self]++; return; }
    sums[self] += fib(24);
    if (++turns < 1200) swapcontext(&fibers[self], &fibers[!self]);
}
static void fiber(int self) { for (;;) { deep(self, 10 + self * 10); if (turns >= 1200) setcontext(&home); } }

int main(void) {
    for (int i = 0; i < 2; i++) {
        getcontext(&fibers[i]);
        fibers[i].uc_stack.ss_sp = malloc(1 << 18);
        fibers[i].uc_stack.ss_size = 1 << 18;
        fibers[i].uc_link = &home;
        makecontext(&fibers[i], (void (*)(void))fiber, 1, i);
    }
    swapcontext(&home, &fibers[0]);
    return printf("%lu\n", sums[0] + sums[1]) < 0;
}
