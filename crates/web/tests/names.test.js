// Short names of functions in several languages, and equal ones told apart.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../src/data/model.js";
import { baseName, eventName, matcher, optionParts, pathName, rateText } from "../src/data/names.js";
import { ShortNames, shortName } from "../src/data/short.js";
import { VIEW, tables } from "./tables.js";

test("names lose their arguments", () => {
  for (const [name, short] of [
    ["main", "main"],
    ["std::vector<int, std::allocator<int> >::push_back(int const&)", "std::vector<…>::push_back"],
    ["void app::each<int>(int) const", "app::each<…>"],
    ["app::Box::operator()(int) const", "app::Box::operator()"],
    ["bool std::operator< <char, std::char_traits<char> >(std::string const&)", "std::operator<<…>"],
    ["operator<<(std::ostream&, int)", "operator<<"],
    ["std::ostream& operator<< <int>(std::ostream&, int)", "operator<<<…>"],
    ["Foo::operator->() const", "Foo::operator->"],
    ["A<b>::operator-><c>()", "A<…>::operator-><…>"],
    ["f<&(A::operator->)>::g(int)", "f<…>::g"],
    ["app::Box<int>::operator bool() const", "app::Box<…>::operator bool"],
    ["Foo::operator std::vector<int, std::allocator<int> >() const", "Foo::operator std::vector<…>"],
    ["operator new(unsigned long)", "operator new"],
    ["operator delete[](void*)", "operator delete[]"],
    ["A::operator[](int)", "A::operator[]"],
    ["worker(int)::{lambda(float,float)#1}", "worker::{lambda#1}"],
    ["worker(int)::{lambda(float, float)#1}::operator()(float, float) const", "worker::{lambda#1}::operator()"],
    ["main::{lambda()#1}::operator()() const::{lambda(int)#2}::operator()(int) const", "main::{lambda#1}::operator()::{lambda#2}::operator()"],
    ["(anonymous namespace)::helper(int)", "(anonymous namespace)::helper"],
    ["double (anonymous namespace)::spin<char>(char const&, int)", "(anonymous namespace)::spin<…>"],
    ["main::(lambda at line 36)::operator()", "main::(lambda at line 36)::operator()"],
    ["std::__invoke<main()::<lambda()> >", "std::__invoke<…>"],
    ["worker(int)::<lambda(float, float)>", "worker::<lambda>"],
    ["void (*choose(int))(char)", "void (*choose(int))(char)"],
    ["decltype (f(0)) app::g<int>(int)", "app::g<…>"],
    ["std::enable_if<((1)>(2)), void>::type std::swap<float>(float&, float&)", "std::swap<…>"],
    ["vtable for app::Box<int>", "vtable for app::Box<…>"],
    ["non-virtual thunk to app::B<int>::f(int)", "non-virtual thunk to app::B<…>::f"],
    ["parse(int) [clone .cold]", "parse [clone .cold]"],
    ["parse(int) [clone .isra.0]", "parse"],
    ["parse() (.part.0)", "parse (.part.0)"],
    ["app::B::~B()", "app::B::~B"],
    ["foo[abi:cxx11](int)", "foo[abi:cxx11]"],
    ["f(int)::'lambda'(float)::operator()(float) const", "f::'lambda'::operator()"],
    ["<alloc::vec::Vec<T> as core::ops::Drop>::drop", "<alloc::vec::Vec<…> as core::ops::Drop>::drop"],
    ["<&T as core::fmt::Debug>::fmt", "<&T as core::fmt::Debug>::fmt"],
    ["<(A, B<C>) as D>::e::<F>", "<(A, B<…>) as D>::e<…>"],
    ["<dyn Fn(A) -> B<C> as D>::e", "<dyn Fn(A) -> B<…> as D>::e"],
    ["core::ptr::drop_in_place<alloc::string::String>", "core::ptr::drop_in_place<…>"],
    ["core::ptr::drop_in_place::<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place<…>"],
    ["alloc::vec::<impl core::cmp::PartialEq<B> for Vec<T>>::eq", "alloc::vec::<impl core::cmp::PartialEq<…> for Vec<…>>::eq"],
    ["app::run::{closure#0}", "app::run::{closure#0}"],
    ["app::run::{{closure}}", "app::run::{{closure}}"],
    ["app::{impl#3}::run::{closure#0}::<A>", "app::{impl#3}::run::{closure#0}<…>"],
    ["main.(*T).f", "main.(*T).f"], ["main.(*Tree[...]).walk", "main.(*Tree[...]).walk"], ["main.T.f.func1", "main.T.f.func1"],
    ["main.Map[go.shape.struct { A int; B int }]", "main.Map[go.shape.struct { A int; B int }]"],
    ["type:.eq.struct { F uintptr; X0 int }", "type:.eq.struct { F uintptr; X0 int }"],
    ["github.com/a/b.(*T).Do", "github.com/a/b.(*T).Do"],
    ["void java.util.HashMap.put(java.lang.Object, java.lang.Object)", "java.util.HashMap.put"],
    ["void java.util.HashMap.<init>(int)", "java.util.HashMap.<init>"],
    ["Ljava/util/HashMap;::put", "Ljava/util/HashMap;::put"],
    ["LFoo;::<init>", "LFoo;::<init>"],
    ["LazyCompile:*fib /tmp/a (1).js:3:1", "LazyCompile:*fib /tmp/a (1).js:3:1"],
    ["Function:~(anonymous) /tmp/x.js:1:1", "Function:~(anonymous) /tmp/x.js:1:1"],
    ["py::<lambda>:/tmp/x.py", "py::<lambda>:/tmp/x.py"], ["py::<module>:/tmp/x.py", "py::<module>:/tmp/x.py"],
    ["Foo.<locals>.<lambda>", "Foo.<locals>.<lambda>"], ["<module>", "<module>"], ["<listcomp>", "<listcomp>"],
    ["-[Foo bar:(int)]", "-[Foo bar:(int)]"],
    ["app.foo!(int).bar(int)", "app.foo!(…).bar"],
    ["[unknown] in libc.so", "[unknown] in libc.so"], ["a<b", "a<b"], ["a>b(c)", "a>b(c)"], ["(", "("], ["<", "<"], ["()", "()"], ["<>", "<>"], ["f(", "f("], ["{}", "{}"],
    ["__libc_start_main@@GLIBC_2.34", "__libc_start_main@@GLIBC_2.34"],
    ["block in <main>", "block in <main>"],
    ["instance void [System.Private.CoreLib] System.String::Foo(int32)", "System.String::Foo"],
    ["bool wi::ltu_p<generic_wide_int<fixed_wide_int_storage<1152> >, int>(int const&)", "wi::ltu_p<…>"],
    ["std::function<void (int)>::operator()(int) const", "std::function<…>::operator()"],
    ["auto f<int>(int)::{lambda(auto:1)#1}::operator()<char>(char) const", "f<…>::{lambda#1}::operator()<…>"],
    ["void std::_Function_handler<void (int), (anonymous namespace)::f()::{lambda(int)#1}>::_M_invoke(std::_Any_data const&, int&&)", "std::_Function_handler<…>::_M_invoke"],
  ]) assert.equal(shortName(name), short);
});

test("equal short names get back as little as tells them apart", () => {
  for (const [names, shown] of [
    [["f(int)", "f(char const*)"], ["f(int)", "f(char const*)"]],
    [["f(int)", "g(int)"], ["f", "g"]],
    [["Box<int>::size() const", "Box<float>::size() const", "size()"], ["Box<int>::size", "Box<float>::size", "size"]],
    [["double spin<char>(char const&, int)", "double spin<int>(int const&, int)"], ["spin<…>(char const&, int)", "spin<…>(int const&, int)"]],
    [["put(std::vector<int, std::allocator<int> >)", "put()"], ["put(std::vector<…>)", "put()"]],
    [["f(int)::{lambda()#1}::operator()() const", "f(char)::{lambda()#1}::operator()() const"], ["f(int)::{lambda()#1}::operator()() const", "f(char)::{lambda()#1}::operator()() const"]],
    [["g() const", "g()"], ["g() const", "g()"]],
    [["h(int)", "h(int) [clone .isra.0]"], ["h(int)", "h(int) [clone .isra.0]"]],
    [["float run<float>(int) [clone .constprop.0]", "double run<double>(int) [clone .constprop.0]"], ["run<float>", "run<double>"]],
    [["p(int)", "p(int) [clone .cold]"], ["p", "p [clone .cold]"]],
    [["v<a<b> >::f(int)", "v<a<c> >::f(int)"], ["v<a<b> >::f(int)", "v<a<c> >::f(int)"]],
    [["<A<B> as C>::f", "<A<D> as C>::f"], ["<A<B> as C>::f", "<A<D> as C>::f"]],
    // Three of a kind: only those that need it have template arguments.
    [["w<a>::f(int)", "w<b>::f(int)", "w<b>::f(char)"], ["w<a>::f", "w<b>::f", "w<…>::f(char)"]],
  ]) {
    const made = new ShortNames();
    names.forEach((name, at) => made.add(at, name));
    assert.deepEqual(names.map((_, at) => made.of(at)), shown);
  }
});

test("a name that comes later changes the spelling of an equal one", () => {
  const made = new ShortNames();
  made.add(4, "f(int)");
  assert.equal(made.of(4), "f");
  made.add(7, "f(char)");
  assert.deepEqual([made.of(4), made.of(7)], ["f(int)", "f(char)"]);
  made.add(8, "f()");
  assert.deepEqual([made.of(4), made.of(7), made.of(8)], ["f(int)", "f(char)", "f()"]);
});

test("a search finds names in full and as they are shown", () => {
  const model = new Model(tables([{ stack: ["app::run(int)"] }, { stack: ["app::stop()"] }]));
  model.look(VIEW);
  const hits = (text, short) => [...model.find(matcher(text), short).hits].slice(0, 2);
  assert.deepEqual([model.name(0), model.name(0, true)], ["app::run(int)", "app::run"]);
  assert.deepEqual([hits("(int)", true), hits("/run$/", true), hits("/run$/", false), hits("/\\)$/", true)], [[1, 0], [1, 0], [0, 0], [1, 1]]);
});

test("perf's frequency is no part of an event's name", () => {
  assert.equal(eventName("cpu-clock/freq=997/"), "cpu-clock");
  assert.equal(eventName("cpu-clock/freq=997/u"), "cpu-clock:u");
  assert.equal(eventName("cpu/cycles,freq=99/"), "cpu/cycles/");
  assert.equal(eventName("sched:sched_switch"), "sched:sched_switch");
});

test("a rate of one event is in the singular", () => {
  assert.deepEqual([[997, 1], [1, 0], [100003, 0], [0, 0]].map(([rate, frequency]) => rateText({ rate, frequency }, String)),
    [", 997 per second", ", one per event", ", one per 100003 events", ""]);
});

test("options stay whole in a text, hyphens of words do not count", () => {
  assert.deepEqual(optionParts("add --debug-dir DIR (or -g), build-id 7"), ["add ", "--debug-dir", " DIR (or ", "-g", "), build-id 7"]);
});

test("memory without a file has a name of its own", () => {
  assert.deepEqual(["//anon", "/usr/lib/libc.so.6", "[vdso]"].map(pathName), ["[anonymous]", "/usr/lib/libc.so.6", "[vdso]"]);
  assert.deepEqual(["[anonymous]", "/usr/lib/libc.so.6", "[vdso]"].map(baseName), ["[anonymous]", "libc.so.6", "[vdso]"]);
});
