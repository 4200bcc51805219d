/* Recursion far deeper than the stack bytes that a sample carries: most chains cannot reach main. */
#include "spin.h"

__attribute__((noinline)) static unsigned long down(unsigned long depth)
{
    volatile unsigned long kept = depth;
    if (depth == 0)
        spin(1500000);
    else
        spin_sink += down(depth - 1);
    return kept;
}

int main(void)
{
    for (unsigned long i = 0; i < 20; i++)
        spin_sink += down(i * 10);
    return 0;
}
