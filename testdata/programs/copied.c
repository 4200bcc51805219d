/* The code of a library, copied into memory without a file, and run there by a child. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "spin.h"

typedef unsigned long step(unsigned long);
typedef unsigned long work(step *, unsigned long);

extern unsigned long copied_work(step *, unsigned long);

__attribute__((noinline)) static unsigned long target(unsigned long rounds)
{
    spin(40000);
    return rounds;
}

/* Returns a copy of the library's page with the function, in separate memory. */
static work *copy(void)
{
    unsigned long address = (unsigned long)dlsym(RTLD_DEFAULT, "copied_work");
    unsigned long page = address & ~4095ul;
    unsigned char *memory = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(memory, (void *)page, 4096);
    mprotect(memory, 4096, PROT_READ | PROT_EXEC);
    return (work *)(void *)(memory + (address - page));
}

__attribute__((noinline)) static int run(work *function)
{
    return function(target, 1000) == 0;
}

int main(void)
{
    work *function = copy();
    pid_t child = fork();
    if (child == 0)
        _exit(run(function));
    int status;
    waitpid(child, &status, 0);
    return (copied_work(target, 400) == 0) + status;
}
