/* The stacks of chain.c at chosen places, but without a C library, so that a program of a few thousand bytes has all of
 * them: a leaf that has not saved its return address, recursion, a callback, a frame with alloca, a signal handler on
 * top of an interrupted system call, and one at the first instruction of a function. Each place is a function at which
 * a debugger stops. For emulators with other signal frames than the kernel's, it is built with
 * WITHOUT_SIGNALS. */
#include "chain_bare.h"

volatile unsigned long sink = 1;

__attribute__((noinline)) void stop_leaf(unsigned long n)
{
    sink += n;
}

__attribute__((noinline)) unsigned long deep(unsigned long n)
{
    volatile unsigned long local[4] = {n, n, n, n};
    if (n == 0) {
        stop_leaf(local[1]);
        return 1;
    }
    return deep(n - 1) + local[2];
}

__attribute__((noinline)) int stop_callback(const int *a, const int *b)
{
    sink += (unsigned long)*a;
    return (*a > *b) - (*a < *b);
}

typedef int (*compare_t)(const int *, const int *);

__attribute__((noinline)) void sort(int *numbers, int n, compare_t compare)
{
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && compare(&numbers[j - 1], &numbers[j]) > 0; j--) {
            int other = numbers[j];
            numbers[j] = numbers[j - 1];
            numbers[j - 1] = other;
        }
}

__attribute__((noinline)) void stop_alloca(char *bytes, unsigned long size)
{
    bytes[size - 1] = 1;
    sink += (unsigned long)bytes[size - 1];
}

__attribute__((noinline)) void with_alloca(unsigned long size)
{
    char *bytes = __builtin_alloca(size);
    bytes[0] = 1;
    stop_alloca(bytes, size);
    sink += (unsigned long)bytes[0];
}

__attribute__((noinline)) void stop_handler(int number)
{
    sink += (unsigned long)number;
}

static void handler(int number)
{
    stop_handler(number);
    sink++;
}

__attribute__((noinline)) void raiser(void)
{
    system_call(NUMBER_KILL, system_call(NUMBER_GETPID, 0, 0, 0, 0), SIGNAL_USER, 0, 0);
    sink++;
}

/* A trap at the first instruction of a function: a look-up of the address minus one falls into another function. */
static void on_trap(int number)
{
    stop_handler(number);
    system_call(NUMBER_EXIT, 0, 0, 0, 0);
}

void trap_first(void);

__attribute__((noinline)) void trapper(void)
{
    trap_first();
    sink++;
}

static void handle(int number, void (*function)(int))
{
    struct action action = {.handler = function, .flags = ACTION_FLAGS};
    system_call(NUMBER_SIGACTION, number, (long)&action, 0, 8);
}

__attribute__((noinline)) void run(void)
{
    int numbers[4] = {5, 3, 8, 1};
    handle(SIGNAL_USER, handler);
    handle(SIGNAL_ILLEGAL, on_trap);
    deep(6);
    sort(numbers, 4, stop_callback);
    with_alloca(200 + (unsigned long)numbers[0]);
#ifndef WITHOUT_SIGNALS
    raiser();
    trapper();
#endif
    system_call(NUMBER_EXIT, 0, 0, 0, 0);
}
