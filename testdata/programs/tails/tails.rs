//! Calls that end as jumps in Rust: plain functions, trait objects, closures, formatting.
//! `cargo lab truth` steps it; the program ends by itself.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::hint::black_box;
use std::sync::atomic::{AtomicI64, Ordering};

static SINK: AtomicI64 = AtomicI64::new(0);

fn sink(n: i64) {
    SINK.store(n, Ordering::Relaxed);
}

#[inline(never)]
fn work(n: i64) -> i64 {
    let mut sum = 0_i64;
    for i in 0..(n & 7) + 3 {
        sum = sum.wrapping_add(black_box(i).wrapping_mul(n));
    }
    sink(sum);
    sum
}

#[inline(never)]
fn three(n: i64) -> i64 {
    sink(n + 3);
    work(n ^ 1)
}

#[inline(never)]
fn two(n: i64) -> i64 {
    sink(n + 2);
    if n & 4 == 0 { three(n + 1) } else { other(n) }
}

#[inline(never)]
fn other(n: i64) -> i64 {
    sink(n - 1);
    three(n - 7)
}

#[inline(never)]
fn one(n: i64) -> i64 {
    sink(n + 1);
    two(n + 1)
}

trait Shape {
    fn area(&self, n: i64) -> i64;
}

struct Square(i64);
struct Circle(String);

impl Shape for Square {
    #[inline(never)]
    fn area(&self, n: i64) -> i64 {
        sink(self.0);
        one(n + self.0)
    }
}

impl Shape for Circle {
    #[inline(never)]
    fn area(&self, n: i64) -> i64 {
        sink(self.0.len() as i64);
        work(n + 1)
    }
}

#[inline(never)]
fn area_of(shape: &dyn Shape, n: i64) -> i64 {
    sink(n);
    shape.area(n)
}

#[inline(never)]
fn calls(function: &dyn Fn(i64) -> i64, n: i64) -> i64 {
    sink(n);
    function(n)
}

fn main() {
    let shapes: [Box<dyn Shape>; 2] = [Box::new(Square(3)), Box::new(Circle("circle".to_owned()))];
    let mut texts = BTreeMap::new();
    let mut numbers = Vec::new();
    for i in 0..300_i64 {
        let mut sum = one(i).wrapping_add(1);
        sum = sum.wrapping_add(area_of(&*shapes[(i & 1) as usize], i));
        sum = sum.wrapping_add(calls(&|n| two(n + i), i));
        numbers.push(sum);
        if i % 10 == 0 {
            let mut text = String::new();
            let _ = write!(text, "{i:>5} {sum:x} {:?}", shapes.len());
            *texts.entry(text).or_insert(0) += 1;
            numbers.sort_by(|a, b| work(*a).cmp(&work(*b)).then(a.cmp(b)));
        }
    }
    black_box((texts, numbers));
}
