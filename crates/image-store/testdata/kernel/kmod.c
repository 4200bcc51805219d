/* What a kernel module looks like: code that runs once in a section of its own, which is laid out apart. */
__attribute__((section(".init.text"), used)) int begin(void) { return 1; }
__attribute__((noinline)) int helper(int n) { return n * 5; }
int work(int n) { return helper(n) + 1; }
__attribute__((section(".text.unlikely"), used)) int rare(void) { return 2; }
