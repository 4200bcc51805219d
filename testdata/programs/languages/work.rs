//! What programs do, in Rust: closures, traits, collections, threads.
use std::collections::BTreeMap;

trait Shape { fn area(&self, depth: u32) -> f64; }
struct Square;
struct Circle;
impl Shape for Square { fn area(&self, depth: u32) -> f64 { if depth == 0 { 1.0 } else { self.area(depth - 1) + 0.5 } } }
impl Shape for Circle { fn area(&self, depth: u32) -> f64 { if depth == 0 { 3.14 } else { 0.9 * self.area(depth - 1) } } }

#[inline(never)]
fn shapes() -> f64 {
    let all: Vec<Box<dyn Shape>> = (0..2000).map(|at| if at % 2 == 0 { Box::new(Square) as Box<dyn Shape> } else { Box::new(Circle) }).collect();
    all.iter().map(|one| one.area(40)).sum()
}
#[inline(never)]
fn words() -> f64 {
    let mut words = BTreeMap::new();
    for at in 0..8000_u32 { *words.entry((at * 7919 % 5003).to_string()).or_insert(0) += 1; }
    let mut list: Vec<_> = words.into_iter().collect();
    list.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    f64::from(list[0].1)
}
#[inline(never)]
fn fib(n: u32) -> u32 { if n < 2 { n } else { fib(n - 1) + fib(n - 2) } }

fn main() {
    let thread = std::thread::spawn(|| (0..60).map(|_| words()).sum::<f64>());
    let sum: f64 = (0..100).map(|_| shapes() + words() + f64::from(fib(24))).sum();
    println!("{}", sum + thread.join().unwrap_or(0.0));
}
