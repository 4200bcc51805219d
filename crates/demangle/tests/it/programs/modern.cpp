#include <concepts>
#include <coroutine>
#include <compare>
#include <tuple>
struct Three { int v; auto operator<=>(const Three&) const; bool operator==(const Three&) const; };
auto Three::operator<=>(const Three& o) const { return v <=> o.v; }
bool Three::operator==(const Three&) const { return true; }
bool use_three(Three a, Three b) { return (a <=> b) < 0; }
template <class T> concept Small = sizeof(T) <= 4;
template <class T, class U> concept Like = requires(T t, U u) { { t + u } noexcept -> std::same_as<T>; typename T::type; requires sizeof(T) > 1; t(); };
template <Small T> void constrained(T) {} template void constrained(int);
template <class T> requires Small<T> && (sizeof(T) > 1) void required(T) {} template void required(short);
template <class T> void trailing(T) requires (Small<T> || requires(T t) { t(); { t } -> Small; typename T::type; requires true; }) {} template void trailing(int);
void abbreviated(Small auto a) {} template void abbreviated(int);
template <class T> struct M { void f() requires Small<T> {} friend void g(M) requires Small<T> {} }; template struct M<int>; void use_g() { g(M<int>()); }
inline auto generic = []<class T, int N, template <class> class C, Small S, class... R>(T t, S s, R... r) requires (sizeof(T) > 1) { return t; };
int use_generic() { return generic.operator()<int, 3, std::tuple_size, char>(1, 'x', 2.0, 3); }
inline auto pack = []<class... T>(T... t) { return (0 + ... + t); }; int use_pack() { return pack(1, 2); }
inline auto decl = [](decltype([](auto x) { return x; })* p, auto y) { return y; }; int use_decl() { return decl(nullptr, 1); }
struct P { int a; int b[2]; }; template <P V> struct NT { void f() {} }; template struct NT<P{1, {2, 3}}>;
struct F { float f; double d; }; template <F V> struct NF { void f() {} }; template struct NF<F{1.5f, -2.25}>; 
template <double D> struct ND { void f() {} }; template struct ND<3.25>;
#if __clang__
template <auto L> struct NL { void f() {} }; template struct NL<[](int x) { return x; }>;
#endif
char8_t eight(char8_t c) { return c; }
struct awaits { bool operator co_await(); }; bool awaits::operator co_await() { return true; }
static auto [first, second] = std::tuple<int, int>{1, 2}; int use_bind() { return first + second; }
namespace bindings { auto [x, y] = std::tuple<int, char>{1, 'c'}; }
#if __clang__
struct Explicit { void f(this Explicit& self, int); template <class S> int g(this S&& self) { return 1; } };
void Explicit::f(this Explicit& self, int) {} int use_explicit(Explicit e) { return e.g(); }
void bits(_BitInt(7) a, unsigned _BitInt(128)) {}
void half(_Float16, __bf16) {}
void en(int x) __attribute__((enable_if(x == 0, ""))) {}
template <class T> void enabled(T t) __attribute__((enable_if(sizeof(T) > 1, ""))) {} template void enabled(int);
typedef float f4 __attribute__((ext_vector_type(4))); void ext(f4) {}
void address(int __attribute__((address_space(3)))* p) {}
template <class T> using removed = __remove_cvref(T); template <class T> void transformed(removed<T>, __underlying_type(T)) {} enum E {}; template void transformed<E>(E, unsigned);
void (^block)(int) = ^(int) { auto l = [] {}; l(); }; void outer() { ^{ ^{ }(); }(); }
template <class T> void builtin_trait(T, decltype(__is_same(T, int))*) {} template void builtin_trait<int>(int, bool*);
template <class... T> void pack_index(T...[0]) {} 
#endif
