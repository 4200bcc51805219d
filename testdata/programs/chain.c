/* Stacks of aarch64 at chosen places: a leaf that has not saved its link register, recursion, a callback from the C
 * library, a signal handler on top of an interrupted leaf, a frame with alloca, a function signed by pointer
 * authentication (if the compiler is asked to). Each place is a function at which a debugger stops. */
#include <alloca.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

volatile unsigned long sink;

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

__attribute__((noinline)) int stop_callback(const void *a, const void *b)
{
    int first = *(const int *)a, second = *(const int *)b;
    sink += (unsigned long)first;
    return (first > second) - (first < second);
}

__attribute__((noinline)) void stop_alloca(char *bytes, unsigned long size)
{
    bytes[size - 1] = 1;
    sink += (unsigned long)bytes[size - 1];
}

__attribute__((noinline)) void with_alloca(unsigned long size)
{
    char *bytes = alloca(size);
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
    kill(getpid(), SIGUSR1);
    sink++;
}

/* A trap at the first instruction of a function: a look-up of the address minus one falls into another function. */
static void on_trap(int number, siginfo_t *info, void *context)
{
    (void)info;
    (void)context;
    stop_handler(number);
    _exit(0);
}

__asm__(".text\n"
        ".type before_trap, %function\n"
        "before_trap:\n"
        "  .cfi_startproc\n"
        "  sub sp, sp, #0x110\n"
        "  .cfi_adjust_cfa_offset 0x110\n"
        "  brk #1\n"
        "  .cfi_endproc\n"
        ".size before_trap, .-before_trap\n"
        ".type trap_first, %function\n"
        "trap_first:\n"
        "  .cfi_startproc\n"
        "  .inst 0\n"
        "  ret\n"
        "  .cfi_endproc\n"
        ".size trap_first, .-trap_first\n");
void trap_first(void);

__attribute__((noinline)) void trapper(void)
{
    trap_first();
    sink++;
}

int main(void)
{
    int numbers[8] = {5, 3, 8, 1, 9, 2, 7, 4};
    struct sigaction action = {.sa_handler = handler};
    struct sigaction trap = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGILL, &trap, NULL);
    deep(12);
    qsort(numbers, 8, sizeof *numbers, stop_callback);
    with_alloca(1000 + (unsigned long)numbers[0]);
    raiser();
    trapper();
    return 0;
}
