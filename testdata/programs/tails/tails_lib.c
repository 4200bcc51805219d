/* The library of tails.c: a jump through the linkage table within it, to libc, and through the caller's pointer. */
#include <stdlib.h>
#include <string.h>

static volatile long count;
static char from[64], to[64];

__attribute__((noinline)) long library_leaf(long n) { count += n; return labs(count - n); }
__attribute__((noinline)) void *library_copy(long n) { count++; return memcpy(to, from, (size_t)(n & 63)); }
__attribute__((noinline)) long library_inner(long n, long (*back)(long)) { count--; return n & 1 ? library_leaf(n) : back(n); }

long library_entry(long n, long (*back)(long))
{
    count += library_copy(n) == to;
    return library_inner(n + 1, back);
}
