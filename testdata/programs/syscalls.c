/* Time in the kernel: samples with a kernel part and a user part. */
#include <fcntl.h>
#include <unistd.h>
#include "spin.h"

static char buffer[1 << 20];

__attribute__((noinline)) static void fill(int zero)
{
    for (int i = 0; i < 60; i++)
        spin_sink += (unsigned long)read(zero, buffer, sizeof buffer);
}

int main(void)
{
    int zero = open("/dev/zero", O_RDONLY);
    for (int i = 0; i < 20; i++) {
        fill(zero);
        spin(500000);
    }
    return 0;
}
