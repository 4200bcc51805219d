//! The control group of a recording, by the name that perf looks it up by.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, bail};
use host::{FileKind, Host, Origin};

use super::container::RunningContainer;
use crate::terminal::shown;

/// Number of groups that a message lists.
const LISTED: usize = 8;
/// The group of the first process, if that is systemd; the other processes of the container are beside it.
///
/// Source: systemd, `docs/CONTROL_GROUP_INTERFACE.md`.
const INIT_SCOPE: &str = "init.scope";

/// The mounted hierarchy of control groups that perf uses.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Hierarchy {
    mount: PathBuf,
    /// True for the hierarchy of v1 with the controller `perf_event`.
    is_v1: bool,
}

impl Hierarchy {
    /// Finds the hierarchy: that of v1 with the controller `perf_event`, else that of v2.
    ///
    /// Source: `tools/lib/api/fs/cgroup.c`, `cgroupfs_find_mountpoint`.
    ///
    /// # Errors
    /// If neither is mounted.
    pub(super) fn find(host: &dyn Host) -> anyhow::Result<Self> {
        let mounts = host.read(Path::new("/proc/self/mounts"), Origin::System).unwrap_or_default();
        let mut found = None;
        for line in mounts.split(|&byte| byte == b'\n') {
            let mut fields = line.split(|&byte| byte == b' ');
            let (_, mount, kind, options) =
                (fields.next(), fields.next(), fields.next(), fields.next());
            let (Some(mount), Some(kind), Some(options)) = (mount, kind, options) else { continue };
            let mount = PathBuf::from(OsString::from_vec(mount.to_vec()));
            let mut options = options.split(|&byte| byte == b',');
            if kind == b"cgroup" && options.any(|option| option == b"perf_event") {
                return Ok(Self { mount, is_v1: true });
            }
            if kind == b"cgroup2" {
                found = Some(Self { mount, is_v1: false });
            }
        }
        found.context("no control groups are mounted; run mount -t cgroup2 none /sys/fs/cgroup")
    }

    /// Returns the name of an existing group for perf. The path can start with that of the mount, or with `/`.
    ///
    /// # Errors
    /// If there is no such group, or if perf cannot record it.
    pub(super) fn group(&self, path: &Path, host: &dyn Host) -> anyhow::Result<PathBuf> {
        let below = path.strip_prefix(&self.mount).or_else(|_| path.strip_prefix("/"));
        let below = below.unwrap_or(path);
        let name: PathBuf = below.components().filter(|it| *it != Component::CurDir).collect();
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if !name.components().all(is_plain) {
            bail!("a control group has no .. in its path");
        }
        if name.as_os_str().is_empty() {
            bail!("all processes are in this control group; use -a");
        }
        if name.as_os_str().as_encoded_bytes().contains(&b',') {
            bail!("perf cannot record a control group with a comma in its path; name its parent");
        }
        if !host.is_dir(&self.mount.join(&name), Origin::User) {
            bail!("no such control group; {}", self.near(&name, host));
        }
        Ok(name)
    }

    /// Returns the nearest existing parent of a missing group, and the groups there.
    fn near(&self, missing: &Path, host: &dyn Host) -> String {
        let mut parents = missing.ancestors().skip(1).map(|name| self.mount.join(name));
        let parent = parents.find(|path| host.is_dir(path, Origin::User));
        let parent = parent.unwrap_or_else(|| self.mount.clone());
        let entries = host.list(&parent, Origin::User).unwrap_or_default();
        let folders = entries.iter().filter(|entry| entry.kind == FileKind::Directory);
        let names: Vec<String> = folders.map(|it| shown(&it.name.to_string_lossy())).collect();
        let place = shown(&parent.to_string_lossy());
        let place = place.trim_end_matches('/');
        match names.len() {
            0 => format!("{place} has no groups"),
            count if count > LISTED => {
                format!("{place} has {} and {} more", names[..LISTED].join(", "), count - LISTED)
            }
            _ => format!("{place} has {}", names.join(", ")),
        }
    }

    /// Returns the name of the group of a container.
    ///
    /// # Errors
    /// If its first process is not on this machine, or has no group of the container.
    pub(super) fn of_container(
        &self,
        container: &RunningContainer,
        host: &dyn Host,
    ) -> anyhow::Result<PathBuf> {
        let pid = container.pid;
        let path = PathBuf::from(format!("/proc/{pid}/cgroup"));
        let Ok(lines) = host.read(&path, Origin::System) else {
            bail!("its first process {pid} is not on this machine; record on that of the runtime");
        };
        let group = lines.split(|&byte| byte == b'\n').find_map(|line| self.group_of_line(line));
        let group = group.unwrap_or_default();
        if group.starts_with("/..") {
            bail!("its control group is outside of the namespace here; record on the host");
        }
        let whole = group.parent().filter(|_| group.file_name() == Some(OsStr::new(INIT_SCOPE)));
        let whole = whole.unwrap_or(&group);
        // The process of a remote runtime has the number of another one here.
        let text = whole.to_string_lossy();
        let is_other = container.id.as_ref().is_some_and(|id| !text.contains(id.as_str()));
        if is_other || whole.parent().is_none() {
            bail!("it has no control group of its own here; record its processes (-p PID)");
        }
        self.group(whole, host)
    }

    /// Returns the path of a line of `/proc/PID/cgroup` if it is of this hierarchy.
    ///
    /// Source: cgroups(7): `hierarchy-ID:controller-list:cgroup-path`; v2 has the number 0 and no controllers.
    fn group_of_line(&self, line: &[u8]) -> Option<PathBuf> {
        let mut parts = line.splitn(3, |&byte| byte == b':');
        let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let mut controllers = controllers.split(|&byte| byte == b',');
        let is_this =
            if self.is_v1 { controllers.any(|name| name == b"perf_event") } else { number == b"0" };
        is_this.then(|| PathBuf::from(OsString::from_vec(path.to_vec())))
    }
}

#[cfg(test)]
mod tests {
    use host::MemoryHost;

    use super::*;

    const V2: &str = "proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n";
    const V1: &str = "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n\
                      cgroup /sys/fs/cgroup/perf_event cgroup rw,perf_event 0 0\n\
                      cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";

    fn machine(mounts: &str, groups: &[&str]) -> MemoryHost {
        let host = MemoryHost::new();
        host.insert("/proc/self/mounts", mounts);
        for group in groups {
            host.insert(format!("{group}/cgroup.procs"), "");
        }
        host
    }

    fn group(host: &MemoryHost, path: &str) -> Result<String, String> {
        let found = Hierarchy::find(host).and_then(|it| it.group(Path::new(path), host));
        found.map(|it| it.to_string_lossy().into_owned()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_hierarchy_is_that_of_perf() {
        let found = |mounts| {
            let found = Hierarchy::find(&machine(mounts, &[]));
            found.map(|it| (it.mount.display().to_string(), it.is_v1)).map_err(|it| it.to_string())
        };
        assert_eq!(found(V2), Ok(("/sys/fs/cgroup".to_owned(), false)));
        assert_eq!(found(V1), Ok(("/sys/fs/cgroup/perf_event".to_owned(), true)));
        let none = "no control groups are mounted; run mount -t cgroup2 none /sys/fs/cgroup";
        assert_eq!(found("proc /proc proc rw 0 0\n"), Err(none.to_owned()));
    }

    #[test]
    fn a_group_has_several_paths() {
        let host = machine(V2, &["/sys/fs/cgroup/a.slice/b.service"]);
        for path in ["a.slice/b.service", "/a.slice/b.service/", "/sys/fs/cgroup/a.slice/b.service"]
        {
            assert_eq!(group(&host, path), Ok("a.slice/b.service".to_owned()));
        }
        let all = "all processes are in this control group; use -a";
        for path in ["/", "", "/sys/fs/cgroup"] {
            assert_eq!(group(&host, path), Err(all.to_owned()));
        }
        let parent = "a control group has no .. in its path";
        assert_eq!(group(&host, "a.slice/../.."), Err(parent.to_owned()));
        let comma = "perf cannot record a control group with a comma in its path; name its parent";
        assert_eq!(group(&host, "a,b"), Err(comma.to_owned()));
    }

    #[test]
    fn a_missing_group_names_those_beside_it() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let groups = names.map(|name| format!("/sys/fs/cgroup/{name}"));
        let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
        let host = machine(V2, &groups);
        let missing = |path| group(&host, path).expect_err("missing");
        assert_eq!(
            missing("x/y"),
            "no such control group; /sys/fs/cgroup has a, b, c, d, e, f, g, h and 2 more"
        );
        assert_eq!(missing("a/y"), "no such control group; /sys/fs/cgroup/a has no groups");
        host.insert("/sys/fs/cgroup/a/b/cgroup.procs", "");
        assert_eq!(missing("a/y"), "no such control group; /sys/fs/cgroup/a has b");
    }

    #[test]
    fn a_container_is_found_by_its_first_process() {
        let of = |mounts: &str, lines: &str, group: &str, id: Option<&str>| {
            let host = machine(mounts, &[group]);
            host.insert("/proc/7/cgroup", lines);
            let id = id.map(str::to_owned);
            let container = RunningContainer { runtime: "docker", id, pid: 7 };
            let found = Hierarchy::find(&host).and_then(|it| it.of_container(&container, &host));
            found.map(|it| it.to_string_lossy().into_owned()).map_err(|error| error.to_string())
        };
        let scope = "/sys/fs/cgroup/system.slice/docker-c0ffee.scope";
        for lines in [
            "0::/system.slice/docker-c0ffee.scope\n",
            "0::/system.slice/docker-c0ffee.scope/init.scope\n",
        ] {
            for id in [Some("c0ffee"), None] {
                let expected = "system.slice/docker-c0ffee.scope".to_owned();
                assert_eq!(of(V2, lines, scope, id), Ok(expected));
            }
        }
        let lines = "9:cpu:/x\n4:net_cls,perf_event:/docker/c0ffee\n0::/y\n";
        let docker = "/sys/fs/cgroup/perf_event/docker/c0ffee";
        assert_eq!(of(V1, lines, docker, Some("c0ffee")), Ok("docker/c0ffee".to_owned()));
        let none = "it has no control group of its own here; record its processes (-p PID)";
        for lines in ["0::/\n", "0::/init.scope\n", "4:perf_event:/x\n"] {
            assert_eq!(of(V2, lines, scope, None), Err(none.to_owned()));
        }
        let lines = "0::/system.slice/docker-c0ffee.scope\n";
        assert_eq!(of(V2, lines, scope, Some("decaf")), Err(none.to_owned()));
        let outside = "its control group is outside of the namespace here; record on the host";
        assert_eq!(of(V2, "0::/../x\n", scope, None), Err(outside.to_owned()));
        let host = machine(V2, &[]);
        let container = RunningContainer { runtime: "docker", id: None, pid: 7 };
        let ended = Hierarchy::find(&host).and_then(|it| it.of_container(&container, &host));
        let message = "its first process 7 is not on this machine; record on that of the runtime";
        assert_eq!(ended.map_err(|it| it.to_string()), Err(message.to_owned()));
    }
}
