/* Code copied into anonymous memory that calls back into the program: once with a frame pointer, once without. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include "spin.h"

/* void code(void (*function)(unsigned long), unsigned long argument) */
static const unsigned char with_frame_pointer[] = {
    0x55,                   /* push rbp       */
    0x48, 0x89, 0xe5,       /* mov rbp, rsp   */
    0x48, 0x89, 0xf8,       /* mov rax, rdi   */
    0x48, 0x89, 0xf7,       /* mov rdi, rsi   */
    0xff, 0xd0,             /* call rax       */
    0x5d,                   /* pop rbp        */
    0xc3,                   /* ret            */
};
static const unsigned char without[] = {
    0x48, 0x83, 0xec, 0x28, /* sub rsp, 0x28  */
    0x48, 0x89, 0xf8,       /* mov rax, rdi   */
    0x48, 0x89, 0xf7,       /* mov rdi, rsi   */
    0xff, 0xd0,             /* call rax       */
    0x48, 0x83, 0xc4, 0x28, /* add rsp, 0x28  */
    0xc3,                   /* ret            */
};

typedef void caller(void (*)(unsigned long), unsigned long);

__attribute__((noinline)) static void target(unsigned long rounds)
{
    spin(rounds);
    spin_sink++;
}

__attribute__((noinline)) static void call_copy(const unsigned char *code, size_t size)
{
    unsigned char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, size);
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
    for (int i = 0; i < 20; i++)
        ((caller *)(void *)page)(target, 1000000);
    munmap(page, 4096);
}

int main(void)
{
    call_copy(with_frame_pointer, sizeof with_frame_pointer);
    call_copy(without, sizeof without);
    return 0;
}
