//! How old samples are: by the recording's clock, where it is one of this machine, else by when they came.

use std::time::{Duration, Instant};

use address::Timestamp;
use host::Host;
use perf_data::Head;

use super::sink::Lag;

/// The clock that tells how old samples are.
#[derive(Debug)]
pub(super) struct LagClock {
    /// The number of the recording's clock, where that can be asked here.
    clock: Option<i32>,
    begin: Instant,
    /// From the times of the recording to the time since the begin, by the samples that were quickest.
    quickest: Option<i128>,
}

impl LagClock {
    /// The clock of a recording. One of another machine runs differently.
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

    /// Samples came, of which the last has that time.
    pub(super) fn arrived(&mut self, last: Timestamp) {
        let delay = self.now() - i128::from(last.0);
        self.quickest = Some(self.quickest.map_or(delay, |quickest| quickest.min(delay)));
    }

    /// How old a sample is.
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
