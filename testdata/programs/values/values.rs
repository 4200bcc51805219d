//! Variables of many types and places for `cargo lab values`.
use std::hint::black_box;

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(i8)]
enum Level { Low = -1, Middle = 4, High = 100 }

#[derive(Clone, Copy, Debug)]
enum Plain { First, Second, Third }

#[derive(Clone, Debug)]
enum Shape { Empty, Circle(f32), Square { side: u16 }, Label(&'static str) }

#[derive(Clone, Debug)]
struct Request<'a> { path: &'a str, name: String, size: u32, offset: i64, level: Level, limit: Option<u16>, tags: [u8; 4] }

struct Counter<T> { value: T, steps: usize }

trait Step { fn step(&mut self, by: u32) -> u32; }

impl Step for Counter<u32> {
    #[inline(never)]
    fn step(&mut self, by: u32) -> u32 {
        let before = self.value;
        self.value = self.value.wrapping_mul(31).wrapping_add(by);
        self.steps += 1;
        black_box(before)
    }
}

#[inline(never)]
fn numbers(a: i8, b: u16, c: i32, d: u64, e: i128, f: f32, g: f64, h: bool, i: char) -> f64 {
    let sum = i64::from(a) + i64::from(b) + i64::from(c);
    let real = f64::from(f) * g;
    let wide = e + i128::from(d);
    black_box((wide, h, i));
    real + sum as f64
}

#[inline(never)]
fn options(a: Option<u32>, b: Option<&u32>, c: Option<bool>, d: Option<&str>, e: Result<i16, u8>) -> u32 {
    let first = a.unwrap_or(7);
    let second = b.copied().unwrap_or(9);
    let flag = c.is_some_and(|it| it);
    black_box((d, e, flag));
    first + second
}

#[inline(never)]
fn shapes(shape: &Shape, plain: Plain, level: Level) -> u32 {
    let area = match shape {
        Shape::Empty => 0,
        Shape::Circle(radius) => (radius * radius) as u32,
        Shape::Square { side } => u32::from(*side) * u32::from(*side),
        Shape::Label(text) => text.len() as u32,
    };
    let weight = area + plain as u32;
    black_box((weight, level));
    weight
}

#[inline(never)]
fn hash(bytes: &[u8], seed: u64) -> u64 {
    let mut state = seed;
    for &byte in bytes {
        state = (state ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    state
}

#[inline(never)]
fn handle(request: &Request<'_>, depth: u32) -> u64 {
    let path = request.path;
    let local = Request { name: format!("{}-{depth}", request.name), ..request.clone() };
    let mut total = hash(path.as_bytes(), u64::from(depth));
    let words: Vec<u32> = local.name.bytes().map(u32::from).collect();
    if depth > 0 {
        total ^= handle(&local, depth - 1);
    }
    for (index, word) in words.iter().enumerate() {
        let part = u64::from(*word) << (index & 7);
        total = total.wrapping_add(part);
    }
    let total = total >> 3;
    black_box(&local);
    total
}

#[inline(never)]
fn dynamic(stepper: &mut dyn Step, rounds: u32) -> u32 {
    let mut last = 0;
    for round in 0..rounds {
        last ^= stepper.step(round);
    }
    last
}

#[inline(never)]
fn apply<F: Fn(u32) -> u32>(function: F, start: u32) -> u32 {
    let once = function(start);
    let twice = function(once);
    once ^ twice
}

fn main() {
    let mut sum = 0_u64;
    let borrowed = 11_u32;
    for round in 0..5_u32 {
        let level = if round & 1 == 0 { Level::Low } else { Level::High };
        let request = Request { path: "/index", name: String::from("name"), size: round, offset: -5, level,
            limit: (round > 2).then_some(80), tags: [1, 2, 3, round as u8] };
        sum = sum.wrapping_add(handle(&request, round & 3));
        let real = numbers(-3, 60000, round as i32 - 3, 1 << 40, -1 << 70, 0.5, 2.25, round == 2, 'é');
        sum = sum.wrapping_add(real.to_bits());
        let some = (round & 1 == 1).then_some(round);
        let text = (round != 3).then_some("text");
        let result = if round == 4 { Err(5) } else { Ok(-6) };
        sum += u64::from(options(some, some.map(|_| &borrowed), Some(round == 1), text, result));
        let shape = match round { 0 => Shape::Empty, 1 => Shape::Circle(1.5), 2 => Shape::Square { side: 9 }, _ => Shape::Label("label") };
        let plain = match round { 0 => Plain::First, 1 => Plain::Second, _ => Plain::Third };
        sum += u64::from(shapes(&shape, plain, if round == 3 { Level::Middle } else { level }));
        let mut counter = Counter { value: round, steps: 0 };
        sum += u64::from(dynamic(&mut counter, round + 2));
        sum += u64::from(apply(|it| it.rotate_left(round) ^ borrowed, 77)) + counter.steps as u64 + u64::from(request.size);
        black_box(request.offset);
    }
    println!("{sum}");
}
