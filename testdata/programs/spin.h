/* A loop that costs processor time and cannot be optimised away. */
#ifndef SPIN_H
#define SPIN_H
static volatile unsigned long spin_sink;
__attribute__((noinline, unused)) static void spin(unsigned long rounds)
{
    for (unsigned long i = 0; i < rounds; i++)
        spin_sink += i ^ (spin_sink >> 3);
    __asm__ volatile("" ::: "memory"); /* no tail call into or out of here */
}
#endif
