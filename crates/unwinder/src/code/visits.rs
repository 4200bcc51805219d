//! Instructions that paths have come to, with the values of some registers. Every instruction has a limited number of
//! visits.

use hashbrown::{HashMap, HashSet};

use crate::arch::{PathState, SymbolicValue};

/// Maximum number of different returns of a function that a search considers, and of visits of an instruction with
/// exact values: each visit of a return can have another stack pointer.
pub(super) const MOST_EXITS: usize = 16;

/// The visits of paths from one start, by the values of `N` registers.
pub(super) struct Visits<const N: usize> {
    registers: [u8; N],
    states: HashSet<(u64, [SymbolicValue; N])>,
    instructions: HashMap<u64, InstructionVisits<N>>,
}

/// The visits of an instruction.
struct InstructionVisits<const N: usize> {
    /// Values of the first visit.
    first: [SymbolicValue; N],
    /// Number of visits with these values, or with other exact ones.
    exact: usize,
}

impl<const N: usize> Visits<N> {
    pub(super) fn of(registers: [u8; N]) -> Self {
        Self { registers, states: HashSet::new(), instructions: HashMap::new() }
    }

    /// Returns true if no path has come to an instruction with these values. After many visits, makes the values
    /// unknown that differ from those of the first: a loop that moves a pointer has a new value in every round.
    pub(super) fn is_new(&mut self, at: u64, state: &mut PathState) -> bool {
        let registers = self.registers;
        let values = registers.map(|register| state.get(register));
        if self.states.contains(&(at, values)) {
            return false;
        }
        let none = InstructionVisits { first: values, exact: 1 };
        let visits = self.instructions.entry(at).or_insert(none);
        if visits.exact < MOST_EXITS {
            visits.exact += usize::from(values != visits.first);
            return self.states.insert((at, values));
        }
        for (register, (value, first)) in registers.into_iter().zip(values.iter().zip(visits.first))
        {
            if *value != first {
                state.set(register, None);
            }
        }
        self.states.insert((at, registers.map(|register| state.get(register))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::X86_64;

    #[test]
    fn an_instruction_has_a_limited_number_of_visits() {
        let mut visits = Visits::of([X86_64.sp, X86_64.fp]);
        let entry = PathState::new(X86_64);
        let visit = |visits: &mut Visits<2>, sp: i64, fp: i64| {
            let mut state = entry.clone();
            state.set(X86_64.sp, entry.sp().map(|it| it.plus(sp)));
            state.set(X86_64.fp, entry.get(X86_64.fp).map(|it| it.plus(fp)));
            let is_new = visits.is_new(0x1000, &mut state);
            (is_new, state.sp().is_some(), state.get(X86_64.fp).is_some())
        };
        // The first values, and fifteen others.
        for round in 0..16 {
            assert_eq!(visit(&mut visits, -8 * round, 0), (true, true, true));
            assert_eq!(visit(&mut visits, -8 * round, 0), (false, true, true));
        }
        // Only what differs from the first visit is unknown.
        assert_eq!(visit(&mut visits, -128, 0), (true, false, true));
        assert_eq!(visit(&mut visits, -136, 0), (false, false, true));
        assert_eq!(visit(&mut visits, 0, 8), (true, true, false));
        assert_eq!(visit(&mut visits, -144, 16), (true, false, false));
        assert_eq!(visit(&mut visits, -152, 24), (false, false, false));
        // Other instructions have their own visits.
        let mut state = entry.clone();
        state.set(X86_64.sp, entry.sp().map(|it| it.plus(-800)));
        assert!(visits.is_new(0x1001, &mut state));
        assert_eq!(state.sp(), entry.sp().map(|it| it.plus(-800)));
    }
}
