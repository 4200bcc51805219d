// Exceptions through frames with destructors, in several threads.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Resource {
    std::string text;
    ~Resource() { text.clear(); }
};

__attribute__((noinline)) static int deep(int depth, int seed) {
    Resource resource{std::to_string(depth)};
    if (depth == 0) {
        if (seed % 3 == 0) throw std::runtime_error("seed " + std::to_string(seed));
        return seed;
    }
    return deep(depth - 1, seed) + static_cast<int>(resource.text.size());
}

__attribute__((noinline)) static long texts(int n) {
    std::map<std::string, long> found;
    for (int i = 0; i < n; i++) {
        std::ostringstream text;
        text << i * 37 % 91 << "k" << 1.5 * i;
        found[text.str()] += i;
    }
    long sum = 0;
    for (const auto &entry : found) sum += entry.second;
    return sum;
}

static void work(int seed) {
    long sum = 0;
    for (int round = 0; round < 6000; round++) {
        try {
            sum += deep(12, round + seed);
        } catch (const std::exception &error) {
            sum += error.what()[0];
        }
        if (round % 40 == 0) sum += texts(200);
        std::vector<double> values(500);
        for (auto &value : values) value = rand();
        std::sort(values.begin(), values.end());
        sum += static_cast<long>(values[3]);
    }
    std::printf("%ld\n", sum);
}

int main() {
    std::thread first(work, 1), second(work, 2);
    work(3);
    first.join();
    second.join();
}
