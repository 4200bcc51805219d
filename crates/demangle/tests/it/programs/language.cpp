#include <utility>
#include <initializer_list>
namespace shapes {
struct Point { int x, y; };
template <class T> struct Box {
  T value;
  Box(T); ~Box();
  template <class U> Box(U, int*);
  operator T() const;
  template <class U> operator U*();
  template <class U> operator Box<U>&();
  T& operator[](unsigned long) &;
  T operator()(T, T) const volatile;
  bool operator<(const Box&) const; bool operator>>(int); bool operator,(int);
  Box* operator->(); T* operator->*(int); Box& operator<<=(T) &&;
  void* operator new(unsigned long); void operator delete[](void*);
  static T shared;
  struct Inner { template <class U> void f(U, typename Box<U>::Inner*); };
};
template <class T> Box<T>::Box(T v) : value(v) {}
template <class T> Box<T>::~Box() {}
template <class T> template <class U> Box<T>::Box(U, int*) {}
template <class T> Box<T>::operator T() const { return value; }
template <class T> template <class U> Box<T>::operator U*() { return nullptr; }
template <class T> template <class U> Box<T>::operator Box<U>&() { static Box<U> b{U()}; return b; }
template <class T> T& Box<T>::operator[](unsigned long) & { return value; }
template <class T> T Box<T>::operator()(T a, T) const volatile { return a; }
template <class T> bool Box<T>::operator<(const Box&) const { return false; }
template <class T> bool Box<T>::operator>>(int) { return false; }
template <class T> bool Box<T>::operator,(int) { return false; }
template <class T> Box<T>* Box<T>::operator->() { return this; }
template <class T> T* Box<T>::operator->*(int) { return &value; }
template <class T> Box<T>& Box<T>::operator<<=(T) && { return *this; }
template <class T> void* Box<T>::operator new(unsigned long) { return nullptr; }
template <class T> void Box<T>::operator delete[](void*) {}
template <class T> T Box<T>::shared{};
template <class T> template <class U> void Box<T>::Inner::f(U, typename Box<U>::Inner*) {}
template struct Box<int>; template struct Box<const char*>;
template Box<int>::Box(double, int*);
template Box<int>::operator long*();
template Box<int>::operator Box<char>&();
template void Box<int>::Inner::f(char, Box<char>::Inner*);
}
// Functions, arrays, member pointers.
void functions(int (*)(char, ...), int (&)[3], int (&&)[2][5], void (shapes::Point::*)(int) const &, int shapes::Point::*,
               int (*(*)(float))(char), void (**)() noexcept, const volatile char* const*, int (*const)[4]) {}
int (*returns_function(double))(char) { return nullptr; }
template <class T> int (*returns_function_t(T))[3] { return nullptr; }
template int (*returns_function_t(char))[3];
template <class R, class... A> R call(R (*)(A...), A&&...) { return R(); }
template int call(int (*)(char, double), char&&, double&&);
template void call(void (*)());
template <class... T> struct Tuple {};
template <class... T, class... U> void two(Tuple<T...>, Tuple<U const&...>, T*...) {}
template void two(Tuple<int, char>, Tuple<const float&>, int*, char*);
template <template <class...> class C, class... T> void of_template(C<T...>) {}
template void of_template(Tuple<int, Tuple<>>);
// Values.
enum class Color : unsigned char { red, green = 7 };
enum Plain { one = -1 };
template <auto V> struct Value { void get() {} };
template struct Value<3>; template struct Value<-3L>; template struct Value<7u>; template struct Value<8ull>;
template struct Value<'a'>; template struct Value<true>; template struct Value<Color::green>; template struct Value<Color(3)>;
template struct Value<one>; template struct Value<nullptr>; template struct Value<(short)5>; template struct Value<u'x'>;
template struct Value<&functions>; template struct Value<&shapes::Point::y>; extern int number; int number; template struct Value<&number>;
template struct Value<&shapes::Box<int>::operator-> >; template struct Value<(__int128)12>;
// Expressions.
template <int N> struct Int {};
template <class T> auto plus(T a, T b) -> decltype(a + b * 2) { return a; }
template int plus(int, int);
template <class T, class U> auto member(T* t, U u) -> decltype(t->x, (*t).y, u[1], (T*)nullptr, static_cast<U>(u), t->T::~T()) {}
template void member(shapes::Point*, int*);
template <class T> void sizes(char (*)[sizeof(T) + alignof(T)], Int<(sizeof(T) > 3)>*, Int<(sizeof(T) >> 1)>*) {}
template void sizes<long>(char (*)[16], Int<1>*, Int<4>*);
template <class... T> auto folds(T... t) -> Int<sizeof...(T) + (... + sizeof(T))> { return {}; }
template Int<2 + 12> folds(int, long);
template <bool... B> void all(Int<(B && ...)>*, Int<(1 + ... + B)>*) {}
template void all<true, false>(Int<0>*, Int<2>*);
template <class T> auto creates(T t) -> decltype(new T(t), delete new T[3], ::new T{t}, T{t}, noexcept(t), !t, -t, ~t, &t, t++, --t, t ? t : t, throw t) {}
template void creates(int);
template <class T> auto braces(T t) -> decltype(shapes::Point{.x = t, .y = t}, T(t)) { return t; }
template int braces(int);
template <class T> void excepts(void (*)(T) noexcept(sizeof(T) == 4)) {}
template void excepts<char>(void (*)(char));
template <class T> typename T::type names(typename T::template rebind<int>::other*, decltype(T::value)*);
struct Names { using type = int; template <class U> struct rebind { using other = U; }; static long value; };
void use() { names<Names>(nullptr, nullptr); }
// Local things.
inline auto local(int n) {
  struct Local { static int f(int); int g() { static int guarded = number; return guarded; } };
  auto l = [n](int a, auto b, auto... c) { return n + a; };
  auto m = [](shapes::Point p) { return p.x; };
  static const char* text = "x"; static int counted = number;
  enum { unnamed }; struct { int z; int h() { return z; } } u{1};
  return l(1, 2.0, 'c') + m({1, 2}) + Local().g() + u.h() + counted + (text != nullptr) + unnamed;
}
int use_local() { return local(1); }
struct Defaults { int f(int a = [] { return 1; }(), int b = [](char) { return 2; }('x')) { return a + b; } int i = [] { return 3; }(); };
int use_defaults() { Defaults d; return d.f() + d.i; }
inline auto global_lambda = [](int x) { return x; };
int use_global() { return global_lambda(1); }
namespace { struct Hidden { void f(); }; void Hidden::f() {} template <class T> void hidden(T) {} }
void use_hidden() { Hidden().f(); hidden(Hidden()); }
static void internal() {} void use_internal() { internal(); }
// Special names.
struct Base { virtual ~Base(); virtual Base* clone(); virtual void v(); int b; };
struct Second { virtual ~Second(); virtual Second* clone2(); virtual void w(); int s; };
struct Derived : Base, virtual Second { Derived(); ~Derived(); Derived* clone() override; Derived* clone2() override; void v() override; void w() override; };
Base::~Base() {} Base* Base::clone() { return this; } void Base::v() {} Second::~Second() {} Second* Second::clone2() { return this; } void Second::w() {}
Derived::Derived() {} Derived::~Derived() {} Derived* Derived::clone() { return this; } Derived* Derived::clone2() { return this; } void Derived::v() {} void Derived::w() {}
thread_local Defaults* tls = new Defaults; int use_tls() { return tls->i; }
const shapes::Point& temporary = shapes::Point{1, 2};
[[gnu::abi_tag("v2")]] void tagged() {} inline namespace [[gnu::abi_tag("ns")]] ns { struct Tagged {}; } Tagged tagged2() { return {}; }
long double operator""_km(long double x) { return x; }
std::initializer_list<int> init(std::initializer_list<Tuple<>>) { return {}; }
// Vendor types.
typedef int v4 __attribute__((vector_size(16))); void vectors(v4, _Complex double, __float128, __int128, unsigned __int128, char16_t, char32_t, char8_t, wchar_t, decltype(nullptr)) {}
void restricted(char* __restrict, const int* __restrict const*) {}
struct Sub { struct Sub2 { void f(Sub, Sub2, Sub*, Sub2*, const Sub&, const Sub2&, Tuple<Sub, Sub2>, Tuple<Sub*, Sub2&&>) &&; }; };
void Sub::Sub2::f(Sub, Sub2, Sub*, Sub2*, const Sub&, const Sub2&, Tuple<Sub, Sub2>, Tuple<Sub*, Sub2&&>) && {}
