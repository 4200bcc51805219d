//! Generics, closures called through `dyn Fn`, recursion over a tree, and two threads.

use std::hint::black_box;
use std::thread;

enum Tree<T> {
    Leaf(T),
    Node(Box<Tree<T>>, Box<Tree<T>>),
}

fn build<T: Copy>(depth: u32, value: T) -> Tree<T> {
    if depth == 0 {
        return Tree::Leaf(value);
    }
    Tree::Node(Box::new(build(depth - 1, value)), Box::new(build(depth - 1, value)))
}

#[inline(never)]
fn fold<T: Copy, A>(tree: &Tree<T>, each: &dyn Fn(T) -> A, join: &dyn Fn(A, A) -> A) -> A {
    match tree {
        Tree::Leaf(value) => each(*value),
        Tree::Node(left, right) => join(fold(left, each, join), fold(right, each, join)),
    }
}

#[inline(never)]
fn work(seed: u64) -> u64 {
    let tree = build(6, seed);
    let each = |value: u64| {
        (0..black_box(9_000u64)).fold(value, |sum, i| black_box(sum.rotate_left(5) ^ i))
    };
    fold(&tree, &each, &|left, right| left.wrapping_add(right))
}

fn main() {
    let other = thread::Builder::new()
        .name("worker".into())
        .spawn(|| (0..40).map(work).fold(0, u64::wrapping_add))
        .expect("a thread can be started");
    let here = (0..40).map(work).fold(0, u64::wrapping_add);
    let there = other.join().expect("the thread ends");
    assert_eq!(black_box(here), there);
}
