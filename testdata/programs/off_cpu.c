/* Waits in two places for known times, with work in between, for --weight off-cpu. A thread waits for a
 * lock that the main thread holds. */
#include <pthread.h>
#include <time.h>
#include "spin.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void nap(long milliseconds)
{
    struct timespec time = {0, milliseconds * 1000000L};
    nanosleep(&time, 0);
    spin_sink++;
}

__attribute__((noinline)) static void serve(void)
{
    nap(4);
    spin(1500000);
}

__attribute__((noinline)) static void wait_for_lock(void)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    spin_sink++;
}

static void *helper(void *unused)
{
    (void)unused;
    wait_for_lock();
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_mutex_lock(&lock);
    pthread_create(&thread, 0, helper, 0);
    for (int i = 0; i < 16; i++)
        serve();
    nap(20);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return 0;
}
