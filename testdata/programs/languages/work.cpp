// What programs do, in C++: templates, virtual calls, exceptions, threads, containers.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Shape { virtual double area(int depth) const = 0; virtual ~Shape() = default; };
struct Square : Shape { double area(int depth) const override { return depth == 0 ? 1 : area(depth - 1) + 0.5; } };
struct Circle : Shape { double area(int depth) const override { return depth == 0 ? 3.14 : 0.9 * area(depth - 1); } };

static double shapes() {
    std::vector<std::unique_ptr<Shape>> all;
    for (int i = 0; i < 2000; i++) { if (i % 2) all.push_back(std::make_unique<Square>()); else all.push_back(std::make_unique<Circle>()); }
    double sum = 0;
    for (auto &one : all) sum += one->area(40);
    return sum;
}
static int thrown(int n) { if (n == 0) throw std::runtime_error("deep enough"); return thrown(n - 1) + 1; }
static double caught() {
    double sum = 0;
    for (int i = 0; i < 60; i++) try { sum += thrown(12); } catch (const std::exception &error) { sum += error.what()[0]; }
    return sum;
}
static double maps() {
    std::map<std::string, int> words;
    for (int i = 0; i < 8000; i++) words[std::to_string(i * 7919 % 5003)]++;
    std::vector<std::pair<std::string, int>> list(words.begin(), words.end());
    std::sort(list.begin(), list.end(), [](const auto &a, const auto &b) { return a.second != b.second ? a.second > b.second : a.first < b.first; });
    return list[0].second;
}
int main() {
    double sum = 0, other = 0;
    std::thread thread([&] { for (int i = 0; i < 60; i++) other += maps(); });
    const std::function<double()> parts[] = {shapes, caught, maps};
    for (int i = 0; i < 100; i++) for (const auto &part : parts) sum += part();
    thread.join();
    std::cout << sum + other << "\n";
}
