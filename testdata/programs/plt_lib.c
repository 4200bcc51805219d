/* The library of plt.c: functions so short that much of the time is spent in the linkage table. */
static volatile unsigned long count;
void tick(void) { count++; }
void call_back(void (*function)(void), int times)
{
    for (int i = 0; i < times; i++)
        function();
    count++;
}
