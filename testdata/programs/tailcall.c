/* Functions that leave by a jump: their frames are gone, and the chain must not invent them. Also a call in the last
 * instruction of a function that does not return: the return address belongs to the function after it. */
#include <setjmp.h>
#include "spin.h"

static jmp_buf back;

__attribute__((noinline)) static int last(int n) { spin((unsigned long)n); return n + 1; }
__attribute__((noinline)) static int middle(int n) { return last(n * 2); }
__attribute__((noinline)) static int entry(int n) { return middle(n + 7); }

__attribute__((noinline, noreturn)) static void never_returns(unsigned long rounds)
{
    spin(rounds);
    __builtin_longjmp(back, 1);
}

__attribute__((noinline, noreturn)) static void calls_at_its_end(unsigned long rounds)
{
    never_returns(rounds);
}

__attribute__((noinline)) static int behind(int n) { spin((unsigned long)n); return n - 1; }

int main(void)
{
    for (volatile int i = 0; i < 20; i++) {
        spin_sink += (unsigned long)entry(500000);
        if (!__builtin_setjmp(back))
            calls_at_its_end(1000000);
        spin_sink += (unsigned long)behind(200000);
    }
    return 0;
}
