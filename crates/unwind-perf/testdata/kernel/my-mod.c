/* A module with an inlined function; its kernel name is my_mod. */
extern long entry_call(long);

static inline __attribute__((always_inline)) long prepare(long n)
{
    return entry_call(n) * 2;
}

long my_ioctl(long n)
{
    return prepare(n) + 1;
}
