/* Calls through the procedure linkage table of the program, lazily bound; also back from the library into it. */
void tick(void);
void call_back(void (*function)(void), int times);

__attribute__((noinline)) static void body(void)
{
    for (int i = 0; i < 16; i++)
        tick();
    __asm__ volatile("" ::: "memory");
}

int main(void)
{
    for (int i = 0; i < 40; i++)
        call_back(body, 40000);
    return 0;
}
