/* Signals of both forms while copying, computing and calling the kernel. */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long count;
static char one[1 << 16], other[1 << 16];

__attribute__((noinline)) static void spin(int n) {
    for (int i = 0; i < n; i++) count += i * i;
}

__attribute__((noinline)) static void copy(int n) {
    for (int i = 1; i < n; i++) {
        memcpy(one, other, i * 7);
        memmove(one + 3, one, i * 5);
        memset(other, i, i * 3);
        one[60000] = 0;
        count += strlen(one) + memcmp(one, other, i) + (strchr(one, 'x') != 0);
    }
}

static void plain(int number) {
    (void)number;
    spin(20000);
    copy(20);
}

static void with_info(int number, siginfo_t *info, void *context) {
    (void)number, (void)info, (void)context;
    spin(20000);
    count += write(-1, one, 1);
}

__attribute__((noinline)) static void call_kernel(int n) {
    int zero = open("/dev/zero", O_RDONLY);
    for (int i = 0; i < n; i++) count += read(zero, one, 60000) + pread(zero, one, 60000, i);
    close(zero);
}

__attribute__((noinline)) static double compute(int n) {
    double sum = 0;
    for (int i = 1; i < n; i++) sum += sin(i) * pow(i, 1.5) + log(i) + fmod(i, 3);
    return sum;
}

int main(void) {
    struct sigaction first = {.sa_handler = plain};
    struct sigaction second = {.sa_sigaction = with_info, .sa_flags = SA_SIGINFO};
    struct itimerval often = {{0, 700}, {0, 700}}, seldom = {{0, 900}, {0, 900}};
    double sum = 0;
    time_t end = time(0) + 5;
    sigaction(SIGALRM, &first, 0);
    sigaction(SIGPROF, &second, 0);
    setitimer(ITIMER_REAL, &often, 0);
    setitimer(ITIMER_PROF, &seldom, 0);
    while (time(0) < end) {
        spin(20000);
        copy(200);
        call_kernel(200);
        sum += compute(2000);
    }
    printf("%lu %g\n", count, sum);
    return 0;
}
