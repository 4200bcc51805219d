// Allocates at known call sites, the same bytes in every run.
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#define SITE extern "C" __attribute__((noinline, visibility("default"))) void

static volatile unsigned long sink;

SITE site_malloc(unsigned long n) {
    for (unsigned long i = 0; i < n; i++) {
        void *p = std::malloc(16 + i % 97 * 8);
        sink = sink + (unsigned long)p;
        std::free(p);
    }
}

SITE site_new(unsigned long n) {
    for (unsigned long i = 0; i < n; i++) {
        auto *p = new char[1 + i % 61];
        sink = sink + (unsigned long)p;
        delete[] p;
    }
}

SITE site_vector(unsigned long n) {
    std::vector<unsigned long> all;
    for (unsigned long i = 0; i < n; i++) all.push_back(i);
    sink = sink + all.back();
}

// The C++ library calls the allocator.
SITE site_string(unsigned long n) {
    std::string text;
    for (unsigned long i = 0; i < n; i++) text.append("0123456789");
    sink = sink + text.size();
}

SITE site_map(unsigned long n) {
    std::map<unsigned long, unsigned long> all;
    for (unsigned long i = 0; i < n; i++) all[i * 7919 % 10007] = i;
    sink = sink + all.size();
}

// Recursion, with another site inside.
SITE site_deep(unsigned long n) {
    void *p = std::malloc(1000 + n);
    if (n) {
        site_deep(n - 1);
        site_malloc(2);
    }
    sink = sink + (unsigned long)p;
    std::free(p);
}

static void work(unsigned long n) {
    site_malloc(n);
    site_new(n);
    site_vector(10 * n);
    site_string(10 * n);
    site_map(n);
    site_deep(20);
}

int main() {
    work(300);
    std::vector<std::thread> threads;
    for (unsigned long n = 1; n < 4; n++) threads.emplace_back(work, 200 * n);
    for (auto &thread : threads) thread.join();
}
