/* Three levels of inlining, a function of which a cold part lies apart, a nested function, a recursive one. */
extern int sink(int);
extern void fail(void) __attribute__((cold, noreturn));

static inline __attribute__((always_inline)) int leaf(int x) {
    return sink(x * 3);
}

static inline __attribute__((always_inline)) int middle(int x) {
    int a = leaf(x + 1);
    return a + leaf(x + 2);
}

int outer(int x) {
    if (__builtin_expect(x < 0, 0))
        fail();
    return middle(x) ^ 5;
}

#ifndef __clang__
extern int apply(int (*)(int));
int enclosing(int x) {
    int add(int y) { return sink(x + y); }
    return apply(add);
}
#endif

__asm__(".globl raw\n.type raw,@function\nraw:\n nop\n nop\nlabel:\n ret\n");

void _start(void) { sink(outer(1)); }
int sink(int x) { __asm__ volatile("" : "+r"(x)); return x; }
void fail(void) { for (;;) __asm__ volatile(""); }
#ifndef __clang__
int apply(int (*f)(int)) { return f(1); }
#endif
