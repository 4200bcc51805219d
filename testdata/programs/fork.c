/* Threads, a fork that continues in the parent's image, and a fork that executes the same program again. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "spin.h"

__attribute__((noinline)) static void in_thread(void) { spin(6000000); spin_sink++; }
__attribute__((noinline)) static void in_child(void) { spin(6000000); spin_sink++; }
__attribute__((noinline)) static void after_exec(void) { spin(6000000); spin_sink++; }

static void *thread(void *unused)
{
    prctl(PR_SET_NAME, "second thread");
    in_thread();
    return unused;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "again")) {
        after_exec();
        return 0;
    }
    pthread_t other;
    pthread_create(&other, 0, thread, 0);
    pthread_join(other, 0);
    if (!fork()) {
        in_child();
        _exit(0);
    }
    wait(0);
    if (!fork()) {
        execl(argv[0], "fork-again", "again", (char *)0);
        _exit(1);
    }
    wait(0);
    return 0;
}
