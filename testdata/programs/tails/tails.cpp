// Calls that end as jumps in C++: virtual calls, thunks of second bases, callables, and a sort with a comparison that
// jumps; an exception passes through some of them. `cargo lab truth` steps it; the program ends by itself.
#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

static volatile long sink;

[[gnu::noinline]] static long work(long n)
{
    long sum = 0;
    for (long i = 0; i < (n & 7) + 3; i++)
        sum += i * sink;
    sink = sum;
    return sum;
}

struct Shape {
    virtual ~Shape() = default;
    virtual long area(long n) = 0;
};
struct Named {
    virtual ~Named() = default;
    virtual long name(long n) = 0;
};

struct Square : Shape, Named {
    [[gnu::noinline]] long area(long n) override { sink += n; return work(n + 1); }
    [[gnu::noinline]] long name(long n) override { sink -= n; return area(n + 2); }
};
struct Circle final : Shape, Named {
    std::string text = "circle, with a text that is not short";
    [[gnu::noinline]] long area(long n) override { sink ^= n; return work(static_cast<long>(text.size()) + n); }
    [[gnu::noinline]] long name(long n) override { return text.find('t') ? area(n) : work(n); }
};

// Jumps by the table of virtual functions.
[[gnu::noinline]] static long area_of(Shape &shape, long n) { sink++; return shape.area(n); }
[[gnu::noinline]] static long name_of(Named &named, long n) { sink++; return named.name(n); }

template <typename T> [[gnu::noinline]] static bool less(const T &a, const T &b) { sink++; return a < b; }

static bool more(const long &a, const long &b) { return less(b, a); }

[[gnu::noinline]] static long thrower(long n)
{
    if (n % 64 == 5)
        throw std::runtime_error("five");
    return work(n);
}
[[gnu::noinline]] static long passes_on(long n) { sink += 2; return thrower(n); }

struct Counter {
    long seen = 0;
    ~Counter() { sink = seen; }
};
[[gnu::noinline]] static long catches(long n)
{
    try {
        Counter counter;
        counter.seen = passes_on(n) + 1;
        return counter.seen;
    } catch (const std::exception &error) {
        return work(error.what()[0]);
    }
}

[[gnu::noinline]] static long calls(const std::function<long(long)> &function, long n) { sink++; return function(n); }

int main()
{
    Square square;
    Circle circle;
    std::vector<long> numbers;
    std::vector<std::string> texts;
    for (long i = 0; i < 40; i++)
        numbers.push_back(i * 7919 % 64);
    for (long i = 0; i < 200; i++) {
        Shape &shape = i & 1 ? static_cast<Shape &>(square) : circle;
        Named &named = i & 2 ? static_cast<Named &>(square) : circle;
        sink += area_of(shape, i) + 1;
        sink += name_of(named, i) + 1;
        sink += catches(i) + 1;
        sink += calls([&](long n) { return area_of(square, n + i); }, i) + 1;
        if (i % 50 == 0)
            std::sort(numbers.begin(), numbers.end(), i % 100 ? less<long> : more);
        texts.push_back(std::to_string(work(i)));
        if (i % 50 == 49)
            std::sort(texts.begin(), texts.end(), less<std::string>);
    }
    return 0;
}
