/* Calls that end as jumps: one path, several, a cycle, through a pointer, into a library and back, and out of a
 * function with a cold part. `cargo lab truth` steps it; the program ends by itself. */
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

#ifdef WITH_LIBRARY
long library_entry(long n, long (*back)(long));
#endif

static volatile long sink;
static volatile int never;

/* Work without a frame. */
NOINLINE static long work(long n)
{
    long sum = 0;
    for (long i = 0; i < (n & 7) + 3; i++)
        sum += i * sink;
    sink = sum;
    return sum;
}

/* Work with a frame. */
NOINLINE static long framed(long n)
{
    long table[8];
    for (int i = 0; i < 8; i++)
        table[i] = n * i;
    long sum = work(n) + table[n & 7];
    return sum + work(table[3] & 15);
}

/* One path: one -> two -> three -> framed. */
NOINLINE static long three(long n) { sink = n + 3; return framed(n + 1); }
NOINLINE static long two(long n) { sink = n + 2; return three(n + 1); }
NOINLINE static long one(long n) { sink = n + 1; return two(n + 1); }

/* Two paths to the same function: fork -> left or right -> join -> framed. */
NOINLINE static long join(long n) { sink += n; return framed(n + 5); }
NOINLINE static long left(long n) { sink -= n; return join(n + 1); }
NOINLINE static long right(long n) { sink ^= n; return join(n + 2); }
NOINLINE static long fork_(long n) { sink += 1; return n & 1 ? left(n) : right(n); }

/* A cycle: even and odd jump into each other, and finally out of it. */
NOINLINE static long odd(long n);
NOINLINE static long even(long n) { sink += n; return n <= 0 ? framed(n) : odd(n - 1); }
NOINLINE static long odd(long n) { sink -= n; return n <= 0 ? work(n) : even(n - 1); }

/* Through a pointer: the jump states no target. */
static long (*volatile pointers[2])(long) = {one, fork_};
NOINLINE static long by_pointer(long n) { sink++; return pointers[n & 1](n); }

/* A function with a cold part that is entered by a jump. */
__attribute__((cold, noinline)) static void complain(long n) { sink = framed(n); }
NOINLINE static long with_cold_part(long n)
{
    if (__builtin_expect(sink == 12345 || (n & 15) == 7, 0)) {
        complain(n);
        complain(n + 1);
        sink ^= 3;
    }
    return three(n);
}

/* With a frame and calls before the jump. */
NOINLINE static long after_calls(long n)
{
    long before = framed(n);
    sink = work(before);
    return join(before ^ sink);
}

/* A function that calls itself, finally by a jump. */
NOINLINE static long recursion(long n)
{
    if (n <= 0)
        return one(sink);
    long deeper = recursion(n - 1);
    return after_calls(deeper + n);
}

NOINLINE static long called_back(long n) { sink++; return three(n); }

int main(void)
{
    for (long i = 0; i < 400; i++) {
        sink += one(i) + 1;
        sink += fork_(i) + 1;
        sink += even(i & 7) + 1;
        sink += by_pointer(i) + 1;
        sink += with_cold_part(i) + 1;
        sink += recursion(i & 3) + 1;
        sink += called_back(i) + 1;
#ifdef WITH_LIBRARY
        sink += library_entry(i, called_back) + 1;
#endif
        if (never)
            break;
    }
    return 0;
}
