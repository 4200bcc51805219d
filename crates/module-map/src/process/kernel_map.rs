//! The kernel's address space: its own code, its modules, and code that it makes at run time.
//! Also the spaces of guests: addresses of a virtual machine are unrelated to the host's kernel and processes.

use std::sync::Arc;

use address::{Avma, ModuleId, Pid};
use hashbrown::HashMap;

use super::event::end_of;
use super::renewal::Renewal;
use crate::module::{FileIdentity, MappedKind, ModuleKey, ModuleTable};
use crate::space::{Mapping, Space};

/// Mappings in the kernel, and the reference for its load address.
#[derive(Debug)]
pub(super) struct KernelMap {
    pub(super) space: Arc<Space>,
    /// A symbol and its address.
    reference: Option<(Box<[u8]>, Avma)>,
}

impl KernelMap {
    pub(super) const fn new(empty: Arc<Space>) -> Self {
        Self { space: empty, reference: None }
    }

    pub(super) fn map(&mut self, mapping: Mapping) {
        Arc::make_mut(&mut self.space).map(mapping);
    }

    pub(super) fn unmap(&mut self, start: Avma, len: u64) {
        if let Some(end) = end_of(start, len) {
            Arc::make_mut(&mut self.space).unmap(start, end);
        }
    }

    /// Sets the address of a symbol. The first record counts.
    pub(super) fn refer(&mut self, symbol: &[u8], address: Avma) {
        self.reference.get_or_insert_with(|| (symbol.into(), address));
    }

    pub(super) fn reference(&self) -> Option<(&[u8], Avma)> {
        self.reference.as_ref().map(|(symbol, address)| (&**symbol, *address))
    }
}

/// Address spaces of one guest.
#[derive(Clone, Debug)]
pub struct Guest {
    kernel: Arc<Space>,
    user: Arc<Space>,
    rest: Rest,
}

/// Modules for addresses without a recorded mapping; each exists once such an address was sampled.
#[derive(Clone, Copy, Debug, Default)]
struct Rest {
    kernel: Option<ModuleId>,
    user: Option<ModuleId>,
    hypervisor: Option<ModuleId>,
}

impl Guest {
    fn new(empty: &Arc<Space>, rest: Rest) -> Self {
        Self { kernel: empty.clone(), user: empty.clone(), rest }
    }

    /// Returns the module at an address of the guest's kernel.
    #[must_use]
    pub fn kernel_module(&self, address: Avma) -> Option<ModuleId> {
        self.kernel.lookup(address).map(|mapping| mapping.module).or(self.rest.kernel)
    }

    /// Returns the module at an address of a process of the guest.
    #[must_use]
    pub fn user_module(&self, address: Avma) -> Option<ModuleId> {
        self.user.lookup(address).map(|mapping| mapping.module).or(self.rest.user)
    }

    /// Returns the module of the hypervisor's code.
    #[must_use]
    pub const fn hypervisor_module(&self) -> Option<ModuleId> {
        self.rest.hypervisor
    }
}

/// Guests of a recording, by the host process that runs them.
#[derive(Debug)]
pub(super) struct Guests {
    empty: Arc<Space>,
    /// Maps without a process are under [`ANY`].
    guests: HashMap<Pid, Arc<Guest>>,
    rest: Rest,
}

/// Key of guests without maps of their own.
const ANY: Pid = Pid(0);

impl Guests {
    pub(super) fn new(empty: Arc<Space>) -> Self {
        Self { empty, guests: HashMap::new(), rest: Rest::default() }
    }

    /// Returns the guest that a process runs; `None` if no guest was recorded yet.
    #[inline]
    pub(super) fn get(&self, pid: Pid) -> Option<&Arc<Guest>> {
        if self.guests.is_empty() {
            return None;
        }
        self.guests.get(&pid).or_else(|| self.guests.get(&ANY))
    }

    fn get_mut(&mut self, pid: Pid) -> &mut Guest {
        let Self { empty, guests, rest } = self;
        let pid = if pid.0 > 0 { pid } else { ANY };
        Arc::make_mut(guests.entry(pid).or_insert_with(|| Arc::new(Guest::new(empty, *rest))))
    }

    /// Adds a mapping of a guest's kernel or of one of its processes.
    pub(super) fn map(&mut self, pid: Pid, in_kernel: bool, mapping: Mapping) {
        let guest = self.get_mut(pid);
        let space = if in_kernel { &mut guest.kernel } else { &mut guest.user };
        Arc::make_mut(space).map(mapping);
    }

    /// Gives all spaces the modules of a renewed timeline.
    pub(super) fn renew(&mut self, renewal: &mut Renewal<'_>) {
        renewal.shared_space(&mut self.empty);
        let Rest { kernel, user, hypervisor } = &mut self.rest;
        for id in [kernel, user, hypervisor].into_iter().flatten() {
            *id = renewal.module(*id);
        }
        for guest in self.guests.values_mut() {
            let guest = Arc::make_mut(guest);
            renewal.shared_space(&mut guest.kernel);
            renewal.shared_space(&mut guest.user);
            guest.rest = self.rest;
        }
    }

    /// Records that code of this kind was sampled: its addresses get a module if no mapping is stated.
    pub(super) fn sampled(&mut self, kind: MappedKind, modules: &mut ModuleTable) {
        let (rest, path): (_, &[u8]) = match kind {
            MappedKind::GuestKernel => (&mut self.rest.kernel, b"[guest.kernel.kallsyms]"),
            MappedKind::GuestUser => (&mut self.rest.user, b"[guest.user]"),
            MappedKind::Hypervisor => (&mut self.rest.hypervisor, b"[hypervisor]"),
            _ => return,
        };
        if rest.is_some() {
            return;
        }
        let identity = FileIdentity::default();
        let key = ModuleKey { path, kind, identity, owner: None, part: None };
        *rest = Some(modules.intern(key, None));
        self.get_mut(ANY);
        for guest in self.guests.values_mut() {
            Arc::make_mut(guest).rest = self.rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guests do not share addresses, and unmapped guest addresses belong to a module that is not the host's.
    #[test]
    fn guests_are_apart() {
        let mut modules = ModuleTable::default();
        let mut guests = Guests::new(Arc::default());
        assert!(guests.get(Pid(7)).is_none());
        let identity = FileIdentity::default();
        let mut module = |path: &[u8]| {
            let kind = MappedKind::GuestKernel;
            modules.intern(ModuleKey { path, kind, identity, owner: None, part: None }, None)
        };
        let [of_seven, of_any] = [module(b"[guest.kernel.kallsyms.7]"), module(b"[guest_module]")];
        let map = |module| Mapping {
            start: Avma(0x1000),
            end: Avma(0x2000),
            offset: address::FileOffset(0),
            module,
            executable: true,
            writable: false,
        };
        guests.map(Pid(7), true, map(of_seven));
        guests.map(Pid(-1), true, map(of_any));
        let at = |guests: &Guests, pid, address| {
            let guest = guests.get(Pid(pid)).expect("a guest");
            let address = Avma(address);
            (guest.kernel_module(address), guest.user_module(address), guest.hypervisor_module())
        };
        assert_eq!(at(&guests, 7, 0x1000), (Some(of_seven), None, None));
        assert_eq!(at(&guests, 8, 0x1000), (Some(of_any), None, None));
        assert_eq!(at(&guests, 7, 0x2000), (None, None, None));
        guests.sampled(MappedKind::GuestKernel, &mut modules);
        guests.sampled(MappedKind::GuestUser, &mut modules);
        let rest = [Some(ModuleId(2)), Some(ModuleId(3))];
        assert_eq!(at(&guests, 7, 0x2000), (rest[0], rest[1], None));
        assert_eq!(at(&guests, 8, 0x1000), (Some(of_any), rest[1], None));
        assert_eq!(&*modules.all()[2].path, b"[guest.kernel.kallsyms]");
    }
}
