// Templates, a lambda, a member and inlined ones in namespaces.
namespace app {
extern "C" int sink(int);
template <typename T> struct Box {
    T value;
    [[gnu::always_inline]] T twice() const { return sink(value) + sink(value + 1); }
    [[gnu::noinline]] T get(T by) const;
};
template <typename T> T Box<T>::get(T by) const {
    auto scale = [by](T x) __attribute__((always_inline)) { return sink(x * by); };
    return scale(twice());
}
template struct Box<int>;
}
extern "C" void _start() { app::Box<int> box{7}; app::sink(box.get(3)); }
extern "C" int app::sink(int x) { asm volatile("" : "+r"(x)); return x; }
