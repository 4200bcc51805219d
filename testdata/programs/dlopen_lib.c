/* One source, built twice with another NAME and another frame size: both images have the same layout, so the second
 * is mapped at the address of the first. */
#include "spin.h"
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

__attribute__((noinline)) static void JOIN(work_of_, NAME)(unsigned long rounds)
{
    volatile char frame[FRAME];
    frame[0] = 1;
    spin(rounds);
    spin_sink += (unsigned long)frame[0];
}

void run(unsigned long rounds)
{
    JOIN(work_of_, NAME)(rounds);
    spin_sink++;
}
