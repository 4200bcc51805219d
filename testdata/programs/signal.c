/* Stacks that pass through a signal frame: a timer signal at any instruction, and a trap at the very first instruction
 * of a function, where a look-up of the address minus one falls into another function. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>
#include "spin.h"

static void on_alarm(int number)
{
    spin(60000ul + (unsigned long)number);
    spin_sink++;
}

static void on_trap(int number, siginfo_t *info, void *context)
{
    ucontext_t *interrupted = context;
    (void)info;
    spin(500000ul + (unsigned long)number);
    interrupted->uc_mcontext.gregs[REG_RIP] += 2; /* step over ud2 */
}

/* `before` has a frame of 0x108 bytes up to its last byte; `trap_first` starts right after it with its own row. */
__asm__(".text\n"
        ".type before, @function\n"
        "before:\n"
        "  .cfi_startproc\n"
        "  subq $0x108, %rsp\n"
        "  .cfi_adjust_cfa_offset 0x108\n"
        "  ud2\n"
        "  .cfi_endproc\n"
        ".size before, . - before\n"
        ".type trap_first, @function\n"
        "trap_first:\n"
        "  .cfi_startproc\n"
        "  ud2\n"
        "  ret\n"
        "  .cfi_endproc\n"
        ".size trap_first, . - trap_first\n");
void trap_first(void);

__attribute__((noinline)) static void trapped(void)
{
    trap_first();
    spin_sink++;
}

__attribute__((noinline)) static void interrupted(unsigned long rounds)
{
    spin(rounds);
    spin_sink++;
}

int main(void)
{
    struct sigaction trap = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    struct sigaction alarm = {.sa_handler = on_alarm};
    struct itimerval every = {.it_interval = {0, 4000}, .it_value = {0, 4000}};
    sigaction(SIGILL, &trap, 0);
    sigaction(SIGPROF, &alarm, 0);
    for (int i = 0; i < 12; i++)
        trapped();
    setitimer(ITIMER_PROF, &every, 0);
    for (int i = 0; i < 12; i++)
        interrupted(2500000);
    return 0;
}
