/* Parts of chain_bare.c for each processor: system calls, the entry point of a process, and a function with a trap as
 * its first instruction. */
#if defined(__riscv)
#define NUMBER_EXIT 94
#define NUMBER_KILL 129
#define NUMBER_SIGACTION 134
#define NUMBER_GETPID 172
#elif defined(__arm__)
#define NUMBER_EXIT 248
#define NUMBER_KILL 37
#define NUMBER_SIGACTION 174
#define NUMBER_GETPID 20
#elif defined(__s390x__)
#define NUMBER_EXIT 248
#define NUMBER_KILL 37
#define NUMBER_SIGACTION 174
#define NUMBER_GETPID 20
#elif defined(__powerpc64__)
#define NUMBER_EXIT 234
#define NUMBER_KILL 37
#define NUMBER_SIGACTION 173
#define NUMBER_GETPID 20
#endif
#define SIGNAL_USER 10
#define SIGNAL_ILLEGAL 4
#define ACTION_FLAGS 0

/* Argument of rt_sigaction. */
struct action {
    void (*handler)(int);
    unsigned long flags;
#if !defined(__riscv)
    void (*restorer)(void);
#endif
    unsigned long mask[8 / sizeof(long)];
};

#if defined(__riscv)
static inline long system_call(long number, long a, long b, long c, long d)
{
    register long a7 __asm__("a7") = number, a0 __asm__("a0") = a, a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c, a3 __asm__("a3") = d;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3) : "memory");
    return a0;
}

__asm__(".text\n"
        ".globl _start\n"
        ".type _start, %function\n"
        "_start:\n"
        "  .cfi_startproc\n"
        "  .cfi_undefined ra\n"
        "  call run\n"
        "  ebreak\n"
        "  .cfi_endproc\n"
        ".size _start, .-_start\n"
        ".type before_trap, %function\n"
        "before_trap:\n"
        "  .cfi_startproc\n"
        "  addi sp, sp, -0x110\n"
        "  .cfi_adjust_cfa_offset 0x110\n"
        "  ebreak\n"
        "  .cfi_endproc\n"
        ".size before_trap, .-before_trap\n"
        ".type trap_first, %function\n"
        "trap_first:\n"
        "  .cfi_startproc\n"
        "  unimp\n"
        "  ret\n"
        "  .cfi_endproc\n"
        ".size trap_first, .-trap_first\n");
#endif

#if defined(__arm__)
long system_call(long number, long a, long b, long c, long d);
/* Personality routines that the unwind tables name. */
void __aeabi_unwind_cpp_pr0(void) {}
void __aeabi_unwind_cpp_pr1(void) {}

__asm__(".text\n"
        ".syntax unified\n"
#ifdef __thumb__
        ".thumb\n"
#else
        ".arm\n"
#endif
        ".globl _start\n"
        ".type _start, %function\n"
        "_start:\n"
        "  .fnstart\n"
        "  .cfi_startproc\n"
        "  .cfi_undefined lr\n"
        "  bl run\n"
        "  udf #0\n"
        "  .cfi_endproc\n"
        "  .cantunwind\n"
        "  .fnend\n"
        ".size _start, .-_start\n"
        ".type system_call, %function\n"
        "system_call:\n"
        "  .fnstart\n"
        "  .cfi_startproc\n"
        "  push {r4, r7, r8, lr}\n"
        "  .save {r4, r7, r8, lr}\n"
        "  .cfi_def_cfa_offset 16\n"
        "  .cfi_offset r4, -16\n"
        "  .cfi_offset r7, -12\n"
        "  .cfi_offset r8, -8\n"
        "  .cfi_offset lr, -4\n"
        "  mov r7, r0\n"
        "  mov r0, r1\n"
        "  mov r1, r2\n"
        "  mov r2, r3\n"
        "  ldr r3, [sp, #16]\n"
        "  svc #0\n"
        "  pop {r4, r7, r8, pc}\n"
        "  .cfi_endproc\n"
        "  .fnend\n"
        ".size system_call, .-system_call\n"
        ".type before_trap, %function\n"
        "before_trap:\n"
        "  .fnstart\n"
        "  .cfi_startproc\n"
        "  sub sp, sp, #0x110\n"
        "  .pad #0x110\n"
        "  .cfi_adjust_cfa_offset 0x110\n"
        "  udf #1\n"
        "  .cfi_endproc\n"
        "  .fnend\n"
        ".size before_trap, .-before_trap\n"
        ".type trap_first, %function\n"
        "trap_first:\n"
        "  .fnstart\n"
        "  .cfi_startproc\n"
        "  udf #0\n"
        "  bx lr\n"
        "  .cfi_endproc\n"
        "  .fnend\n"
        ".size trap_first, .-trap_first\n");
#endif

#if defined(__s390x__)
static inline long system_call(long number, long a, long b, long c, long d)
{
    register long r1 __asm__("r1") = number, r2 __asm__("r2") = a, r3 __asm__("r3") = b;
    register long r4 __asm__("r4") = c, r5 __asm__("r5") = d;
    __asm__ volatile("svc 0" : "+r"(r2) : "r"(r1), "r"(r3), "r"(r4), "r"(r5) : "memory");
    return r2;
}

__asm__(".text\n"
        ".globl _start\n"
        ".type _start, @function\n"
        "_start:\n"
        "  .cfi_startproc\n"
        "  .cfi_undefined %r14\n"
        "  aghi %r15, -160\n"
        "  .cfi_adjust_cfa_offset 160\n"
        "  brasl %r14, run\n"
        "  .short 0\n"
        "  .cfi_endproc\n"
        ".size _start, .-_start\n"
        ".type before_trap, @function\n"
        "before_trap:\n"
        "  .cfi_startproc\n"
        "  aghi %r15, -272\n"
        "  .cfi_adjust_cfa_offset 272\n"
        "  .short 0\n"
        "  .cfi_endproc\n"
        ".size before_trap, .-before_trap\n"
        ".type trap_first, @function\n"
        "trap_first:\n"
        "  .cfi_startproc\n"
        "  .short 0\n"
        "  br %r14\n"
        "  .cfi_endproc\n"
        ".size trap_first, .-trap_first\n");
#endif

#if defined(__powerpc64__)
static inline long system_call(long number, long a, long b, long c, long d)
{
    register long r0 __asm__("r0") = number, r3 __asm__("r3") = a, r4 __asm__("r4") = b;
    register long r5 __asm__("r5") = c, r6 __asm__("r6") = d;
    __asm__ volatile("sc"
                     : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6)
                     :
                     : "memory", "cr0", "ctr", "r7", "r8", "r9", "r10", "r11", "r12");
    return r3;
}

__asm__(".text\n"
        ".globl _start\n"
        ".type _start, @function\n"
        "_start:\n"
        "  .cfi_startproc\n"
        "  .cfi_undefined 65\n"
        "  lis 2, .TOC.@ha\n"
        "  addi 2, 2, .TOC.@l\n"
        "  stdu 1, -112(1)\n"
        "  .cfi_adjust_cfa_offset 112\n"
        "  bl run\n"
        "  nop\n"
        "  trap\n"
        "  .cfi_endproc\n"
        ".size _start, .-_start\n"
        ".type before_trap, @function\n"
        "before_trap:\n"
        "  .cfi_startproc\n"
        "  stdu 1, -272(1)\n"
        "  .cfi_adjust_cfa_offset 272\n"
        "  trap\n"
        "  .cfi_endproc\n"
        ".size before_trap, .-before_trap\n"
        ".type trap_first, @function\n"
        "trap_first:\n"
        "  .cfi_startproc\n"
        "  .long 0\n"
        "  blr\n"
        "  .cfi_endproc\n"
        ".size trap_first, .-trap_first\n");
#endif
