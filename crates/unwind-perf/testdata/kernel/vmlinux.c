/* What a kernel looks like: code at the top of the address space, reference symbols, inlined functions. */
__asm__(".section .text.head,\"ax\"\n.globl _text, _stext\n_text:\n .fill 16, 1, 0x90\n_stext:\n .fill 16, 1, 0x90\n.text\n");

extern long handler(long);

static inline __attribute__((always_inline)) long check(long n)
{
    return handler(n + 1);
}

static inline __attribute__((always_inline)) long dispatch(long n)
{
    return check(n * 3) ^ 7;
}

__attribute__((noinline)) long do_call(long n)
{
    return dispatch(n) + 5;
}

__attribute__((noinline)) long entry_call(long n)
{
    return do_call(n) - 1;
}

__attribute__((noinline)) long handler(long n)
{
    __asm__ volatile("" : "+r"(n));
    return n;
}
