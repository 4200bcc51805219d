/* Four plain frames; built with every linker and every kind of image (PIE, static, static PIE, fixed address). */
#include "spin.h"

__attribute__((noinline)) static void inner(unsigned long rounds)
{
    spin(rounds);
    spin_sink++;
}

__attribute__((noinline)) static void outer(unsigned long rounds)
{
    inner(rounds);
    inner(rounds / 2);
    spin_sink++;
}

int main(void)
{
    for (int i = 0; i < 40; i++)
        outer(700000);
    return 0;
}
