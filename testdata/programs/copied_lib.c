/* The library of copied.c: position-independent code that runs after copying. It calls only its argument. */
#include "spin.h"

typedef unsigned long step(unsigned long);

__attribute__((noinline)) static unsigned long inner(step *function, unsigned long rounds)
{
    volatile char frame[300];
    frame[rounds % sizeof frame] = 1;
    for (unsigned long i = 0; i < rounds; i++)
        rounds += function(i) & (unsigned long)frame[0];
    return rounds;
}

__attribute__((noinline)) unsigned long copied_work(step *function, unsigned long rounds)
{
    volatile char frame[100];
    frame[0] = 0;
    return inner(function, rounds) + (unsigned long)frame[0];
}
