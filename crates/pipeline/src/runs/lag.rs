//! Age of samples: by the recording's clock if it runs on this host, else by their arrival.

use std::time::{Duration, Instant};

use address::Timestamp;
use host::Host;
use perf_data::Head;

use super::sink::Lag;

/// The clock that measures the age of samples.
#[derive(Debug)]
pub(super) struct LagClock {
    /// Id of the recording's clock, if this host has it.
    clock: Option<i32>,
    begin: Instant,
    /// Smallest observed difference between arrival, in nanoseconds since `begin`, and recorded time.
    quickest: Option<i128>,
}

impl LagClock {
    /// Returns the clock of a recording. The clock of another host is not used, since it runs differently.
    pub(super) fn new(head: &Head, host: &dyn Host) -> Self {
        let attr = head.events().iter().map(|event| &event.attr).next();
        let stated = attr.filter(|attr| attr.flags.use_clockid()).map(|attr| attr.clockid);
        let is_here = head.features().hostname.is_some_and(|name| name == host.hostname());
        let clock = stated.filter(|&clock| is_here && host.clock(clock).is_some());
        Self { clock, begin: Instant::now(), quickest: None }
    }

    fn now(&self) -> i128 {
        self.begin.elapsed().as_nanos().cast_signed()
    }

    /// Records the arrival of samples; `last` is the time of the last one.
    pub(super) fn arrived(&mut self, last: Timestamp) {
        let delay = self.now() - i128::from(last.0);
        self.quickest = Some(self.quickest.map_or(delay, |quickest| quickest.min(delay)));
    }

    /// Returns the age of a sample.
    pub(super) fn lag(&self, time: Timestamp, host: &dyn Host) -> Option<Lag> {
        let of_nanos =
            |nanos: i128| Duration::from_nanos(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX));
        if let Some(now) = self.clock.and_then(|clock| host.clock(clock)) {
            let age = of_nanos(i128::from(now) - i128::from(time.0));
            return Some(Lag { age, is_exact: true });
        }
        let age = of_nanos(self.now() - i128::from(time.0) - self.quickest?);
        Some(Lag { age, is_exact: false })
    }
}
