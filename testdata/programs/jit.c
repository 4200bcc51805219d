/* A small just-in-time compiler: code without frame pointers, described in a jitdump with names, lines and call frame
   information; code that moves, and code at the address of earlier code. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "spin.h"

enum { LOAD, MOVE, LINES, CLOSE, UNWINDING };

static FILE *dump;
static uint64_t next_index;

/* void code(void (*function)(unsigned long), unsigned long argument) */
static const unsigned char code[] = {
    0x48, 0x83, 0xec, 0x28, /*  0 sub rsp, 0x28 */
    0x48, 0x89, 0xf8,       /*  4 mov rax, rdi  */
    0x48, 0x89, 0xf7,       /*  7 mov rdi, rsi  */
    0xff, 0xd0,             /* 10 call rax      */
    0x48, 0x83, 0xc4, 0x28, /* 12 add rsp, 0x28 */
    0xc3,                   /* 16 ret           */
};
/* Unwind data after the code, which takes 24 bytes with its padding. */
static const unsigned char unwinding[] = {
    20, 0, 0, 0,  0, 0, 0, 0,  1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, /* CIE, pointers relative, 4 bytes */
    0x0c, 7, 8, 0x90, 1, 0, 0,                                       /* CFA = rsp + 8, ra at CFA - 8   */
    20, 0, 0, 0,  28, 0, 0, 0,                                       /* FDE                            */
    0xc8, 0xff, 0xff, 0xff, 17, 0, 0, 0, 0,                          /* from -56 on, that is 0         */
    0x44, 0x0e, 0x30, 0x4c, 0x0e, 8, 0,                              /* from 4 on + 0x30, from 16 on + 8 */
    0, 0, 0, 0,
    1, 0x1b, 3, 0x3b, 0xc8, 0xff, 0xff, 0xff, 1, 0, 0, 0,            /* header: one entry              */
    0xb4, 0xff, 0xff, 0xff, 0xe4, 0xff, 0xff, 0xff,
};

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void put(const void *bytes, size_t size) { fwrite(bytes, 1, size, dump); }
static void put32(uint32_t value) { put(&value, 4); }
static void put64(uint64_t value) { put(&value, 8); }
static void head(uint32_t id, size_t body) { put32(id); put32((uint32_t)body + 16); put64(now()); }

static void begin(void)
{
    char path[64];
    sprintf(path, "jit-%d.dump", getpid());
    dump = fopen(path, "w+");
    put32(0x4a695444); put32(1); put32(40); put32(62); put32(0); put32((uint32_t)getpid()); put64(now()); put64(0);
    fflush(dump);
    mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
}

static void loaded(const unsigned char *at, const char *name, uint32_t line)
{
    static const char file[] = "/src/program.script";
    head(UNWINDING, 24 + sizeof unwinding);
    put64(sizeof unwinding); put64(20); put64(sizeof unwinding);
    put(unwinding, sizeof unwinding);
    head(LINES, 16 + 2 * (16 + sizeof file));
    put64((uint64_t)at); put64(2);
    put64((uint64_t)at); put32(line); put32(0); put(file, sizeof file);
    put64((uint64_t)at + 7); put32(line + 1); put32(0); put(file, sizeof file);
    head(LOAD, 40 + strlen(name) + 1 + sizeof code);
    put32((uint32_t)getpid()); put32((uint32_t)getpid());
    put64((uint64_t)at); put64((uint64_t)at); put64(sizeof code); put64(next_index++);
    put(name, strlen(name) + 1);
    put(code, sizeof code);
    fflush(dump);
}

static void moved(const unsigned char *from, const unsigned char *to, uint64_t index)
{
    head(MOVE, 48);
    put32((uint32_t)getpid()); put32((uint32_t)getpid());
    put64((uint64_t)to); put64((uint64_t)from); put64((uint64_t)to); put64(sizeof code); put64(index);
    fflush(dump);
}

__attribute__((noinline)) static void target(unsigned long rounds)
{
    spin(rounds);
    spin_sink++;
}

__attribute__((noinline)) static void run(const unsigned char *at)
{
    for (int i = 0; i < 10; i++)
        ((void (*)(void (*)(unsigned long), unsigned long))(void *)at)(target, 1000000);
}

int main(void)
{
    begin();
    unsigned char *memory = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(memory + 64, code, sizeof code);
    memcpy(memory + 4096, code, sizeof code);
    mprotect(memory, 8192, PROT_READ | PROT_EXEC);
    loaded(memory + 64, "first", 10);
    run(memory + 64);
    moved(memory + 64, memory + 4096, 0);
    run(memory + 4096);
    loaded(memory + 64, "second", 20);
    run(memory + 64);
    return 0;
}
