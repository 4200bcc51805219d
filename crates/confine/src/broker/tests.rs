//! A host whose files are opened by a broker in another thread.

use std::path::Path;
use std::sync::Arc;

use host::{FileKind, FileOwner, Host, HostError, Origin, RealHost, ScratchDir};

use super::{BrokeredHost, Channel, HostRequest, answer};
use crate::{Receiver, Sender, pair};

/// Returns a host that a thread answers until the host is dropped.
fn brokered() -> BrokeredHost<HostRequest> {
    let (own, other) = pair().unwrap();
    std::thread::spawn(move || {
        let receiver = Receiver::new(other.try_clone().unwrap());
        let mut sender = Sender::new(other);
        while let Some((request, _)) = receiver.receive::<HostRequest>().unwrap() {
            let (reply, file) = answer(&RealHost, &request);
            let file = file.as_ref().map(std::os::fd::AsFd::as_fd);
            sender.send(&reply, file.as_slice()).unwrap();
        }
    });
    BrokeredHost::new(Channel::new(own).unwrap(), |request| request, Arc::new(RealHost))
}

#[test]
#[allow(clippy::disallowed_methods, reason = "tests write files")]
fn answers_are_those_of_the_machine() {
    let folder = ScratchDir::below(&std::env::temp_dir()).unwrap();
    let root = folder.path();
    let (program, text) = (root.join("program"), root.join("text"));
    std::fs::write(&program, b"\x7fELF\x02\x01\x01and more than a header").unwrap();
    std::fs::write(&text, b"secret").unwrap();
    let host = brokered();
    for origin in [Origin::User, Origin::Recording { root }, Origin::Stored { root }] {
        let (own, other) = (host.open(&program, origin), RealHost.open(&program, origin));
        let (own, other) = (own.unwrap(), other.unwrap());
        assert_eq!((&own.content[..], own.stamp), (&other.content[..], other.stamp));
        assert_eq!(
            host.open_unless(&program, origin, &mut |it| *it == own.stamp).unwrap().map(|_| ()),
            None
        );
        assert_eq!(
            host.recorded_file(&program, origin).unwrap(),
            RealHost.recorded_file(&program, origin).unwrap()
        );
        let names = host.list(root, origin).unwrap();
        assert_eq!(names, RealHost.list(root, origin).unwrap());
        assert_eq!(names.len(), 2);
        assert!(
            matches!(host.open(&text, origin), Err(HostError::Refused { path }) if path == text)
        );
        assert_eq!(host.stat(&text, origin).unwrap().kind, FileKind::Regular);
        assert!(host.open(&root.join("missing"), origin).unwrap_err().is_missing());
        assert!(matches!(host.open(root, origin), Err(HostError::NotRegular { .. })));
    }
    assert_eq!(host.owner(&text, Origin::User).unwrap(), FileOwner::This);
    let maps = host.text(Path::new("/proc/self/maps"), Origin::System).unwrap();
    assert!(maps.bytes.windows(7).any(|it| it == b"[stack]") && maps.owner == FileOwner::This);
    assert_eq!(host.distrust(root), RealHost.distrust(root));
    assert_eq!(host.running_vdso(), RealHost.running_vdso());
}

#[test]
fn without_a_broker_nothing_is_opened_or_trusted() {
    let (own, other) = pair().unwrap();
    let wrap = |request: HostRequest| request;
    let host = BrokeredHost::new(Channel::new(own).unwrap(), wrap, Arc::new(RealHost));
    drop(other);
    let program = std::env::current_exe().unwrap();
    assert!(matches!(host.open(&program, Origin::User), Err(HostError::Io { .. })));
    assert!(host.distrust(Path::new("/")).is_some());
}
