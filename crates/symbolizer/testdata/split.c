/* Its debug information is in a file of its own. */
extern int sink(int);
static inline __attribute__((always_inline)) int leaf(int x) { return sink(x * 3); }
int outer(int x) {
    int a = leaf(x);
    return a + leaf(a);
}
void _start(void) { sink(outer(1)); }
int sink(int x) { __asm__ volatile("" : "+r"(x)); return x; }
