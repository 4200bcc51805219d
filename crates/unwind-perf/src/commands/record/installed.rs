//! The installed perf: whether it is there, fits the kernel, and is new enough.

use std::io;
use std::path::Path;

use anyhow::{Context as _, bail};
use host::{Host, Origin};

use super::run::{said_by, text_of};
use crate::args::RecordArgs;
use crate::terminal::shown;

/// Major and minor version of perf.
type Version = (u32, u32);

/// The oldest perf for an option.
struct Need {
    /// The option; empty for `record` itself.
    option: &'static str,
    version: Version,
    /// Part of the output of `perf record -h` that proves the ability. Distributions add some to older versions.
    sign: Option<&'static str>,
}

/// `--call-graph dwarf`.
const STACKS: Need = Need { option: "", version: (3, 7), sign: None };
/// `--switch-events`, and a frequency for each event.
const OFF_CPU: Need = Need { option: "--off-cpu", version: (4, 3), sign: Some("--switch-events") };
/// A frequency for each event.
const PROBE: Need = Need { option: "--probe", version: (4, 3), sign: None };
/// One group for several events.
const CGROUP: Need = Need { option: "--cgroup", version: (4, 17), sign: None };
/// `--control fifo:`.
const UNWIND: Need = Need { option: "--unwind", version: (5, 10), sign: Some("fifo:") };

/// Checks that perf is installed and new enough for what is asked. An unknown version is new enough.
///
/// # Errors
/// If it is missing or too old; the message names the package of this distribution.
pub(super) fn check(args: &RecordArgs, host: &dyn Host) -> anyhow::Result<()> {
    let perf = &args.perf;
    let said = match said_by(perf, &["version"]) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && perf == Path::new("perf") => {
            bail!("perf is not installed; run {}", install_command(host));
        }
        said => said.with_context(|| format!("cannot start {}", perf.display()))?,
    };
    if !said.is_success && is_without_kernel(&said.text) {
        let release = String::from_utf8_lossy(&host.kernel_release()).into_owned();
        let (release, install) = (shown(&release), install_command(host));
        bail!("perf is not installed for the kernel {release}; run {install}");
    }
    let Some(version) = version_in(&said.text) else { return Ok(()) };
    let mut needs = vec![STACKS];
    needs.extend(args.off_cpu.then_some(OFF_CPU));
    needs.extend((!args.probe.is_empty()).then_some(PROBE));
    match (&args.container, &args.cgroup) {
        (Some(_), _) => needs.push(Need { option: "--container", ..CGROUP }),
        (None, Some(_)) => needs.push(CGROUP),
        (None, None) => {}
    }
    needs.extend(args.unwind.then_some(UNWIND));
    for need in needs.iter().filter(|need| version < need.version) {
        let is_there = |sign: &str| text_of(perf, &["record", "-h"]).contains(sign);
        if !need.sign.is_some_and(is_there) {
            bail!(need.message(perf, version));
        }
    }
    Ok(())
}

impl Need {
    fn message(&self, perf: &Path, (major, minor): Version) -> String {
        let (oldest, perf) = (self.version, perf.display());
        let is = format!("{perf} is version {major}.{minor}");
        let needs = format!("needs {}.{} or later", oldest.0, oldest.1);
        match self.option {
            "" => format!("{is}, and record {needs}; install a newer one, or name it by --perf"),
            option => format!("{is}, and {option} {needs}; install a newer one, or omit {option}"),
        }
    }
}

/// Returns true for the messages of the scripts that start the perf of the running kernel.
///
/// Source: `debian/tools/generic` of Ubuntu's kernels, and `bin/perf` of Debian's `linux-base` up to Debian 11.
fn is_without_kernel(text: &str) -> bool {
    text.contains("not found for kernel") || text.contains("is not installed")
}

/// Returns the version in the output of `perf version`, such as `perf version 6.1.187` or `5.10.g2c85ebc57b3e`.
fn version_in(text: &str) -> Option<Version> {
    let version = text.split("perf version ").nth(1)?;
    let mut numbers = version.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// Returns the command that installs perf on this distribution.
///
/// Source: os-release(5), and the packages of the distributions.
fn install_command(host: &dyn Host) -> String {
    let files = ["/etc/os-release", "/usr/lib/os-release"];
    let text = files.iter().find_map(|path| host.read(Path::new(path), Origin::System).ok());
    let text = text.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_default().trim_matches(['"', '\'']).to_owned()
    };
    // A descendant names its ancestors, the nearest one first.
    let names = format!("{} {}", value("ID"), value("ID_LIKE"));
    for name in names.split_whitespace() {
        return match name {
            "ubuntu" => {
                let release = String::from_utf8_lossy(&host.kernel_release()).into_owned();
                let release = shown(&release);
                format!("sudo apt install linux-tools-{release}, or linux-tools-generic")
            }
            "debian" => "sudo apt install linux-perf".to_owned(),
            "fedora" | "rhel" | "centos" => "sudo dnf install perf".to_owned(),
            "suse" | "opensuse" => "sudo zypper install perf".to_owned(),
            "arch" => "sudo pacman -S perf".to_owned(),
            "alpine" => "sudo apk add perf".to_owned(),
            _ => continue,
        };
    }
    "the installer of your distribution for perf (linux-tools, linux-perf)".to_owned()
}

#[cfg(test)]
mod tests {
    use host::MemoryHost;

    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(version_in("perf version 6.1.187\n"), Some((6, 1)));
        assert_eq!(version_in("perf version 4.18.0-553.el8_10.x86_64"), Some((4, 18)));
        assert_eq!(version_in("perf version 5.10.g2c85ebc57b3e"), Some((5, 10)));
        assert_eq!(version_in("perf version 3.7-rc1"), Some((3, 7)));
        assert_eq!(version_in("perf version gabcdef"), None);
        assert_eq!(version_in("usage"), None);
    }

    #[test]
    fn the_message_names_the_oldest_version() {
        assert_eq!(
            STACKS.message(Path::new("perf"), (3, 2)),
            "perf is version 3.2, and record needs 3.7 or later; install a newer one, or name it by --perf"
        );
        assert_eq!(
            UNWIND.message(Path::new("./perf"), (5, 4)),
            "./perf is version 5.4, and --unwind needs 5.10 or later; install a newer one, or omit --unwind"
        );
    }

    #[test]
    fn the_package_is_that_of_the_distribution() {
        let host = MemoryHost::new();
        let unknown = "the installer of your distribution for perf (linux-tools, linux-perf)";
        assert_eq!(install_command(&host), unknown);
        host.insert("/proc/sys/kernel/osrelease", "6.8.0-31-generic\n");
        for (text, command) in [
            ("NAME=\"Debian GNU/Linux\"\nID=debian\n", "sudo apt install linux-perf"),
            (
                "ID=ubuntu\nID_LIKE=debian\n",
                "sudo apt install linux-tools-6.8.0-31-generic, or linux-tools-generic",
            ),
            (
                "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n",
                "sudo apt install linux-tools-6.8.0-31-generic, or linux-tools-generic",
            ),
            ("ID=\"fedora\"\n", "sudo dnf install perf"),
            ("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "sudo dnf install perf"),
            ("ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n", "sudo zypper install perf"),
            ("ID=arch\n", "sudo pacman -S perf"),
            ("ID=alpine\n", "sudo apk add perf"),
            ("ID=nixos\n", unknown),
        ] {
            host.insert("/etc/os-release", text);
            assert_eq!(install_command(&host), command);
        }
    }
}
