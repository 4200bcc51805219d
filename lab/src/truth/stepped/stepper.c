/* Runs a program instruction by instruction and writes its states, for `cargo lab truth`.
 *
 *   stepper FLOW SKIP COUNT MEAN SEED PROGRAM [ARGUMENT]...
 *
 * From the program's entry on, SKIP instructions are run (`Nms`: N milliseconds), then COUNT more.
 * On average, each MEAN-th of these is drawn.
 * The program has no environment and no randomized addresses; it is killed at the end.
 * Standard output has records in the machine's byte order; each starts with a byte for its kind:
 *   'M' u32 length, the text of /proc/PID/maps: at the beginning, and before a drawn instruction if it has changed
 *   'F' u64 pc, u64 sp, 16 bytes of code: each instruction before it runs, if FLOW is not 0
 *   'S' 18 registers, u32 length, the stack from sp on: a drawn instruction before it runs
 *   'G' u32 signal: it is delivered before the next instruction
 *   'E' u64 number of executed instructions: the end */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES 63488

static pid_t child;

static void fail(const char *what)
{
    fprintf(stderr, "stepper: %s: %s\n", what, strerror(errno));
    if (child > 0)
        kill(child, SIGKILL);
    exit(2);
}

static void put(const void *bytes, size_t length)
{
    if (fwrite(bytes, 1, length, stdout) != length)
        fail("standard output");
}

static size_t memory(uint64_t address, void *to, size_t length)
{
    struct iovec mine = {to, length}, theirs = {(void *)address, length};
    ssize_t got = process_vm_readv(child, &mine, 1, &theirs, 1, 0);
    return got < 0 ? 0 : (size_t)got;
}

/* Reads up to the first unreadable page. */
static size_t memory_up_to(uint64_t address, uint8_t *to, size_t length)
{
    size_t done = 0;
    while (done < length) {
        size_t piece = 4096 - (address + done) % 4096;
        if (piece > length - done)
            piece = length - done;
        if (memory(address + done, to + done, piece) != piece)
            break;
        done += piece;
    }
    return done;
}

static size_t file_of_child(const char *name, char *to, size_t length)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", child, name);
    int file = open(path, O_RDONLY);
    if (file < 0)
        fail(path);
    size_t done = 0;
    ssize_t got;
    while (done < length && (got = read(file, to + done, length - done)) > 0)
        done += (size_t)got;
    close(file);
    return done;
}

static void put_maps(void)
{
    static char now[1 << 20], before[1 << 20];
    static size_t before_length;
    uint32_t length = (uint32_t)file_of_child("maps", now, sizeof now);
    if (length == before_length && !memcmp(now, before, length))
        return;
    memcpy(before, now, length);
    before_length = length;
    put("M", 1);
    put(&length, 4);
    put(now, length);
}

static void put_stop(const struct user_regs_struct *r)
{
    static uint8_t stack[STACK_BYTES];
    uint64_t registers[18] = {r->rax, r->rbx, r->rcx, r->rdx, r->rsi, r->rdi, r->rbp, r->rsp, r->rip, r->eflags,
                              r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15};
    uint32_t length = (uint32_t)memory_up_to(r->rsp, stack, sizeof stack);
    put_maps();
    put("S", 1);
    put(registers, sizeof registers);
    put(&length, 4);
    put(stack, length);
}

/* Lets the program run to its entry, after the work of the dynamic linker. */
static void to_entry(void)
{
    uint64_t words[128];
    size_t count = file_of_child("auxv", (char *)words, sizeof words) / 16;
    uint64_t entry = 0;
    for (size_t i = 0; i < count; i++)
        if (words[2 * i] == AT_ENTRY)
            entry = words[2 * i + 1];
    struct user_regs_struct r;
    ptrace(PTRACE_GETREGS, child, 0, &r);
    if (r.rip == entry)
        return;
    errno = 0;
    long code = ptrace(PTRACE_PEEKTEXT, child, entry, 0);
    if (errno || ptrace(PTRACE_POKETEXT, child, entry, (code & ~0xffL) | 0xcc))
        fail("entry");
    int status;
    ptrace(PTRACE_CONT, child, 0, 0);
    waitpid(child, &status, 0);
    ptrace(PTRACE_GETREGS, child, 0, &r);
    if (!WIFSTOPPED(status) || r.rip != entry + 1)
        fail("the program does not reach its entry");
    r.rip = entry;
    ptrace(PTRACE_POKETEXT, child, entry, code);
    ptrace(PTRACE_SETREGS, child, 0, &r);
}

/* Lets the program run for a while. */
static void run_for(uint64_t milliseconds)
{
    int status;
    ptrace(PTRACE_CONT, child, 0, 0);
    usleep((useconds_t)(milliseconds * 1000));
    kill(child, SIGSTOP);
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        fail("the program ends too early");
}

static uint64_t random_state;

static uint64_t next_random(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static void start(char **arguments)
{
    child = fork();
    if (child < 0)
        fail("fork");
    if (child)
        return;
    char *environment[] = {NULL};
    personality(ADDR_NO_RANDOMIZE);
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(null, 1);
    dup2(null, 2);
    execve(arguments[0], arguments, environment);
    _exit(127);
}

int main(int argc, char **argv)
{
    if (argc < 7)
        return 2;
    int flow = atoi(argv[1]);
    uint64_t skip = strtoull(argv[2], NULL, 10), count = strtoull(argv[3], NULL, 10);
    uint64_t mean = strtoull(argv[4], NULL, 10), done = 0;
    random_state = strtoull(argv[5], NULL, 10);
    static char buffer[1 << 20];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    start(argv + 6);
    int status, signal = 0;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        fail("the program does not start");
    ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_EXITKILL);
    to_entry();
    if (strstr(argv[2], "ms")) {
        run_for(skip);
        skip = 0;
    }
    put_maps();
    uint64_t drawn = skip + next_random() % (2 * mean - 1);
    for (; done < skip + count; done++) {
        struct user_regs_struct r;
        ptrace(PTRACE_GETREGS, child, 0, &r);
        if (flow) {
            struct { uint64_t pc, sp; uint8_t code[16]; } step = {r.rip, r.rsp, {0}};
            memory_up_to(r.rip, step.code, sizeof step.code);
            put("F", 1);
            put(&step, sizeof step);
        }
        if (done == drawn) {
            put_stop(&r);
            drawn += 1 + next_random() % (2 * mean - 1);
        }
        if (ptrace(PTRACE_SINGLESTEP, child, 0, signal) || waitpid(child, &status, 0) != child)
            fail("a step");
        if (!WIFSTOPPED(status))
            break;
        signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
        if (signal) {
            uint32_t number = (uint32_t)signal;
            put("G", 1);
            put(&number, 4);
        }
    }
    put("E", 1);
    put(&done, 8);
    fflush(stdout);
    kill(child, SIGKILL);
    return 0;
}
