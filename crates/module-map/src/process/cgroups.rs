//! Control groups: their paths by the ids that samples carry.

use hashbrown::HashMap;

/// Id of a control group, as assigned by the kernel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CgroupId(pub u64);

/// Control groups that the recording names.
#[derive(Debug, Default)]
pub(super) struct Cgroups(HashMap<CgroupId, Box<[u8]>>);

impl Cgroups {
    /// Sets the path of a group, replacing an earlier one.
    pub(super) fn name(&mut self, id: CgroupId, path: &[u8]) {
        self.0.insert(id, path.into());
    }

    /// Returns the path of a group below the root of the hierarchy; `[cgroup ID]` if it is unknown.
    pub(super) fn path(&self, id: CgroupId) -> Vec<u8> {
        let unknown = || format!("[cgroup {}]", id.0).into_bytes();
        self.0.get(&id).map_or_else(unknown, |path| path.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_by_id() {
        let mut cgroups = Cgroups::default();
        cgroups.name(CgroupId(1), b"/");
        cgroups.name(CgroupId(77), b"/a");
        cgroups.name(CgroupId(77), b"/b");
        let paths = [1, 77, 78].map(|id| cgroups.path(CgroupId(id)));
        assert_eq!(paths, [b"/".to_vec(), b"/b".to_vec(), b"[cgroup 78]".to_vec()]);
    }
}
