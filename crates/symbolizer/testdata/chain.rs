//! Inlined closures, generics and a method, without the standard library.
#![no_std]
#![no_main]

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

#[inline(never)]
fn sink(x: u64) -> u64 {
    core::hint::black_box(x)
}

struct Wide(u64);

impl Wide {
    #[inline(always)]
    fn spread<F: Fn(u64) -> u64>(&self, f: F) -> u64 {
        f(self.0) ^ f(self.0 + 1)
    }
}

#[inline(never)]
fn outer(x: u64) -> u64 {
    Wide(x).spread(
        #[inline(always)]
        |y| sink(y.rotate_left(3)),
    )
}

#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    sink(outer(1));
    loop {}
}
