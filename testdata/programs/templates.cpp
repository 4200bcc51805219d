// A translation unit that takes a compiler several seconds, and a program with deeply inlined frames: regular
// expressions, streams, maps of variants, and sorts over tuples, each for many types. Arguments: words, number of
// their repetitions in the text, and number of passes over it.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <numeric>
#include <regex>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

template <int N> struct Tag {
    std::string name = std::to_string(N);
    bool operator<(const Tag &other) const { return name < other.name; }
};

template <int N> std::string work(const std::string &text)
{
    using Value = std::variant<int, double, std::string, Tag<N>>;
    std::map<std::tuple<int, Tag<N>>, std::vector<Value>> table;
    std::unordered_map<std::string, std::function<Value(int)>> makers;
    makers["tag"] = [](int) { return Value(Tag<N>{}); };
    makers["number"] = [](int n) { return Value(n * 0.5); };
    std::regex pattern("(\\w+)-(" + std::to_string(N) + "+)");
    for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
        for (auto &maker : makers)
            table[{at->length(), Tag<N>{}}].push_back(maker.second(N));
    std::vector<std::tuple<std::size_t, int>> rows;
    for (auto &entry : table)
        rows.emplace_back(entry.second.size(), std::get<0>(entry.first));
    std::sort(rows.begin(), rows.end(), [](auto &a, auto &b) { return std::get<1>(a) < std::get<1>(b); });
    std::stable_sort(rows.begin(), rows.end(), std::greater<>());
    std::ostringstream out;
    for (auto &row : rows)
        out << std::get<0>(row) << ' ' << std::get<1>(row) << '\n';
    return out.str();
}

template <int... N> std::string all(const std::string &text, std::integer_sequence<int, N...>)
{
    return (work<N>(text) + ...);
}

int main(int argc, char **argv)
{
    const std::string words = argc > 1 ? argv[1] : "a-1 b-2 ";
    std::string text;
    for (int times = argc > 2 ? std::stoi(argv[2]) : 1; times > 0; --times)
        text += words;
    const int rounds = argc > 3 ? std::stoi(argv[3]) : 1;
    for (int round = 0; round < rounds; ++round)
        std::cout << all(text, std::make_integer_sequence<int, 8>());
}
