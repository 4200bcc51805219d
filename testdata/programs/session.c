/* Program of README.md's session, which finds its costliest line: line 9. */
#include <stdio.h>

static unsigned long mix(unsigned long value)
{
    for (int round = 0; round < 1000; round++) {
        /* A division is slower than
           counting. */
        value = value * 6364136223846793005 / (value >> 60 | 1) + 1442695040888963407;
    }
    return value;
}

int main(void)
{
    unsigned long value = 1;
    for (int turn = 0; turn < 100000; turn++)
        value ^= mix(value);
    printf("%lu\n", value);
}
