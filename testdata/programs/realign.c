/* A function that realigns its stack, has aligned locals and calls alloca: its CFA has no constant distance to any
 * register, but is saved in the frame (DW_CFA_def_cfa_expression with gcc's r10 prologue). */
#include <alloca.h>
#include "spin.h"

__attribute__((noinline)) static void use(volatile char *small, volatile double *wide, unsigned long rounds)
{
    small[0]++;
    wide[0] += 1;
    spin(rounds);
    wide[1] += small[0];
}

__attribute__((noinline, force_align_arg_pointer)) static void realigned(int size, unsigned long rounds)
{
    _Alignas(64) volatile double wide[8] = {0};
    volatile char *small = alloca((size_t)size);
    for (int i = 0; i < 4; i++) {
        wide[i] = size;
        use(small, wide, rounds);
    }
    spin(rounds);
    spin_sink += (unsigned long)wide[0];
}

/* More arguments than registers: the incoming stack arguments are reached through r10. */
__attribute__((noinline, force_align_arg_pointer)) static unsigned long
many(unsigned long a, unsigned long b, unsigned long c, unsigned long d, unsigned long e, unsigned long f,
     unsigned long g, unsigned long h)
{
    _Alignas(32) volatile unsigned long wide[4] = {a, b, c, d};
    spin(e);
    realigned((int)f, g);
    return wide[0] + wide[3] + h;
}

int main(void)
{
    for (int i = 0; i < 30; i++)
        spin_sink += many(1, 2, 3, 4, 100000, 100 + i * 16, 120000, (unsigned long)i);
    return 0;
}
