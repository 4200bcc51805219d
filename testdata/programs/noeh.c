/* Built without .eh_frame: with frame pointers, without them, and with .debug_frame only. */
#include "spin.h"

__attribute__((noinline)) static void third(unsigned long rounds)
{
    volatile char frame[40];
    frame[1] = 2;
    spin(rounds);
    spin_sink += (unsigned long)frame[1];
}

__attribute__((noinline)) static void second(unsigned long rounds)
{
    volatile unsigned long kept = rounds;
    third(rounds);
    spin_sink += kept;
}

__attribute__((noinline)) static void first(unsigned long rounds)
{
    second(rounds);
    spin_sink++;
}

int main(void)
{
    for (int i = 0; i < 40; i++)
        first(1000000);
    return 0;
}
