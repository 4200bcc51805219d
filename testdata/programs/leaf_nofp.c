/* Leaf functions without a frame pointer: one that uses the red zone, one that pushes and pops registers, and one that
 * uses rbp as a plain register, so that a walk over frame pointers reads nonsense. */
#include "spin.h"

__attribute__((noinline)) static unsigned long red_zone(unsigned long rounds)
{
    volatile unsigned long ring[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (unsigned long i = 0; i < rounds; i++)
        ring[i & 7] += ring[(i + 3) & 7] ^ i;
    return ring[0];
}

__attribute__((noinline)) static unsigned long busy(unsigned long rounds)
{
    unsigned long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, k = 9, l = 10, m = 11;
    for (unsigned long i = 0; i < rounds; i++) {
        a += b ^ i, b += c ^ a, c += d ^ b, d += e ^ c, e += f ^ d, f += g ^ e;
        g += h ^ f, h += k ^ g, k += l ^ h, l += m ^ k, m += a ^ l;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g));
        __asm__ volatile("" : "+r"(h), "+r"(k), "+r"(l), "+r"(m));
    }
    return a + m;
}

__attribute__((noinline)) static void rbp_is_data(unsigned long rounds)
{
    __asm__ volatile("push %%rbp\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_rel_offset rbp, 0\n\t"
                     "mov $0x1234567, %%rbp\n"
                     "1:\tadd $3, %%rbp\n\tsub $1, %0\n\tjnz 1b\n\t"
                     "pop %%rbp\n\t.cfi_adjust_cfa_offset -8\n\t.cfi_restore rbp"
                     : "+r"(rounds)::"cc", "memory");
}

int main(void)
{
    for (int i = 0; i < 30; i++) {
        spin_sink += red_zone(500000);
        spin_sink += busy(120000);
        rbp_is_data(1500000);
    }
    return 0;
}
