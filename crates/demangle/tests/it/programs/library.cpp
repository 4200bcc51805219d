#include <string>
#include <memory>
#include <vector>
#include <map>
#include <functional>
#include <iostream>
#include <variant>
#include <thread>
#include <algorithm>
#include <sstream>
struct Node { std::string name; int v; };
std::string text(std::string a, std::ostream& o, std::istream& i, std::iostream&) { o << a; return a; }
std::shared_ptr<Node> make(int n) { return std::make_shared<Node>(Node{"x", n}); }
int work(std::map<std::string, std::vector<Node>>& m) {
  std::vector<std::function<int(const std::string&)>> f; f.push_back([&](const std::string& s) { return (int)m[s].size(); });
  std::sort(m["a"].begin(), m["a"].end(), [](auto& a, auto& b) { return a.v < b.v; });
  std::variant<int, std::string> v = "x"; std::visit([](auto&& x) { if constexpr (requires { x.size(); }) (void)x.size(); }, v);
  std::thread t([](std::unique_ptr<Node> p, int) {}, std::make_unique<Node>(), 3); t.join();
  std::stringstream s; s << 1; auto p = std::make_pair(std::string("a"), 1.0); std::swap(p.first, p.first);
  return f[0]("b") + m.size();
}
