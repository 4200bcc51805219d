//! `PostgreSQL`: samples labelled by their queries, beside the server's own statistics.
//!
//! A server of another user runs three statements, with simple and with prepared queries. Its statistics state the time
//! of each statement; our labels state the processor time, which includes parallel workers.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use xtask::command;

use super::probe::Probe;
use crate::consumers::{Bench, Missing};

/// The user that Debian's package makes: the server refuses to run as root.
const USER: &str = "postgres";
const INSTALLED: &str = "/usr/lib/postgresql";
const INSTALL: &str = "apt-get install --quiet --yes --no-install-recommends postgresql linux-perf";

/// The reports of the server's processes on what they run. Registers are those of x86-64.
const PROBE: &str = "unwind_check=pgstat_report_activity state=%di query=+0(%si):string";
const EVENT: &str = "probe_postgres:unwind_check";

/// First version in which the state of a running query is 3 instead of 2.
///
/// Source: `BackendState` in `src/include/utils/backend_status.h`.
const OTHER_STATES: u32 = 18;

/// The statements, the most costly one first.
const STATEMENTS: [&str; 3] = [
    "SELECT count(*), sum(abalance) FROM pgbench_accounts WHERE filler LIKE '%x%';",
    "SELECT sum(abalance) FROM pgbench_accounts WHERE aid < 50000;",
    "SELECT abalance FROM pgbench_accounts WHERE aid = 77;",
];

/// Time of the server in milliseconds by statement, as `text<tab>time`, the most costly one first.
const STATISTICS: &str = "SELECT query, total_exec_time FROM pg_stat_statements \
    WHERE query LIKE '%pgbench_accounts WHERE%' ORDER BY 2 DESC";

/// Maximum difference of the share of a statement.
const ROUGH: f64 = 0.15;

/// Runs the check.
pub(in crate::consumers) fn check(bench: &Bench<'_>) -> Result<String> {
    let programs = programs(bench)?;
    let server = Server::start(bench, programs)?;
    let _probe = Probe::add(&server.programs.join("postgres"), EVENT, PROBE)?;
    let compared = ["simple", "extended"].map(|protocol| server.compared(bench, protocol));
    let [simple, extended] = compared;
    Ok(format!("simple: {}; extended: {}", simple?, extended?))
}

/// Returns the folder of the server's programs.
fn programs(bench: &Bench<'_>) -> Result<PathBuf> {
    let find = || {
        let versions = std::fs::read_dir(INSTALLED).ok()?.flatten();
        versions.map(|it| it.path().join("bin")).find(|it| it.join("postgres").exists())
    };
    if find().is_none() {
        bench.install(&mut command::words(INSTALL))?;
    }
    find().ok_or_else(|| Missing(format!("{INSTALLED} has no server")).into())
}

/// A running server with a database, in a folder of its own.
struct Server {
    programs: PathBuf,
    folder: PathBuf,
    /// State of a process that runs a query, in [`PROBE`].
    running: u32,
}

impl Server {
    fn start(bench: &Bench<'_>, programs: PathBuf) -> Result<Self> {
        let folder = bench.scratch.join("postgresql");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder)?;
        command::quiet_output(Command::new("chown").arg(USER).arg(&folder))?;
        let version = programs.parent().and_then(|it| it.file_name()?.to_str()?.parse().ok());
        let running = if version.unwrap_or(0) < OTHER_STATES { 2 } else { 3 };
        let server = Self { programs, folder, running };
        let data = server.folder.join("data");
        server.run("initdb", |it| it.args(["-A", "trust", "-D"]).arg(&data))?;
        let settings = format!(
            "-c listen_addresses= -c unix_socket_directories={} -c shared_preload_libraries=pg_stat_statements",
            server.folder.display()
        );
        let log = server.folder.join("log");
        server.run("pg_ctl", |it| {
            it.args(["-w", "-o", &settings, "-l"]).arg(&log).arg("-D").arg(&data).arg("start")
        })?;
        server.run("pgbench", |it| it.args(["-i", "-q", "-s", "5", "postgres"]))?;
        server.query("CREATE EXTENSION pg_stat_statements")?;
        Ok(server)
    }

    /// Returns a program of the server as its user.
    fn command(&self, program: &str) -> Command {
        let mut command = command::words("setpriv --init-groups --reuid");
        command.args([USER, "--regid", USER]).arg(self.programs.join(program));
        command.env("PGHOST", &self.folder).current_dir(&self.folder);
        command
    }

    fn run(&self, program: &str, with: impl Fn(&mut Command) -> &mut Command) -> Result<String> {
        command::quiet_output(with(&mut self.command(program)))
    }

    fn query(&self, query: &str) -> Result<String> {
        self.run("psql", |it| it.args(["-X", "-A", "-t", "-F", "\t", "-c", query, "postgres"]))
    }

    /// Runs the statements with a protocol, and compares the shares of each.
    fn compared(&self, bench: &Bench<'_>, protocol: &str) -> Result<String> {
        let script = self.folder.join("statements.sql");
        std::fs::write(&script, STATEMENTS.join("\n"))?;
        self.query("SELECT pg_stat_statements_reset()")?;
        let recording = bench.scratch.join("postgresql.data");
        let mut record = command::words("perf record --quiet -a -c 1 -m 4M");
        record.args(["-e", EVENT, "-e", "cpu-clock/freq=499/", "--call-graph", "dwarf,8192"]);
        record.arg("-o").arg(&recording);
        let run = self.command("pgbench");
        record.arg(run.get_program()).args(run.get_args()).env("PGHOST", &self.folder);
        record.args(["-n", "-c", "2", "-T", "4", "-M", protocol, "-f"]).arg(&script);
        command::quiet_output(record.arg("postgres"))?;
        let theirs = self.statistics()?;
        let (ours, unlabelled) = labelled(bench, &recording, self.running)?;
        let shares = |of: &[f64; 3]| of.map(|part| part / of.iter().sum::<f64>().max(1.0));
        let (theirs, ours) = (shares(&theirs), shares(&ours));
        let is_ordered = |of: &[f64; 3]| of.is_sorted_by(|one, next| one > next);
        let is_near = ours.iter().zip(&theirs).all(|(one, other)| (one - other).abs() < ROUGH);
        let shown = |of: &[f64; 3]| of.map(|part| format!("{:.1} %", 100.0 * part)).join(", ");
        let (ours_shown, theirs_shown) = (shown(&ours), shown(&theirs));
        if !is_ordered(&ours) || !is_ordered(&theirs) || !is_near {
            bail!("{protocol}: {ours_shown} of the samples, {theirs_shown} of the server's time");
        }
        if unlabelled > 0.2 {
            bail!("{protocol}: {:.1} % of the samples have no label", 100.0 * unlabelled);
        }
        Ok(format!("{ours_shown} beside {theirs_shown}"))
    }

    /// Returns the server's time by statement.
    fn statistics(&self) -> Result<[f64; 3]> {
        let mut times = [0.0; 3];
        for line in self.query(STATISTICS)?.lines() {
            let (query, time) = line.rsplit_once('\t').context("no time")?;
            *place(&mut times, query)? += time.parse::<f64>()?;
        }
        Ok(times)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let data = self.folder.join("data");
        let _ = self.run("pg_ctl", |it| it.args(["-m", "immediate", "-D"]).arg(&data).arg("stop"));
    }
}

/// Returns the number of our samples by statement, and the share of the server's samples that have no label.
fn labelled(bench: &Bench<'_>, recording: &Path, running: u32) -> Result<([f64; 3], f64)> {
    let mut top = Command::new(bench.ours);
    top.args(["top", "--quiet", "--format", "json", "--by", "query", "--event", "cpu-clock*"]);
    top.args(["--comm", USER, "--label", &format!("query={EVENT}/query")]);
    top.args(["--label-when", &format!("state={running}")]);
    let table = command::quiet_output(top.arg(recording))?;
    let table: serde_json::Value = serde_json::from_str(&table)?;
    let (mut samples, mut all, mut unlabelled) = ([0.0; 3], 0.0, 0.0);
    for row in table["rows"].as_array().context("no rows")? {
        let count = row["own_samples"].as_f64().context("no samples")?;
        all += count;
        match row["value"].as_str() {
            None if row["missing"] == "unknown" => unlabelled += count,
            Some(query) if query.contains("pgbench_accounts WHERE") => {
                *place(&mut samples, query)? += count;
            }
            _ => {}
        }
    }
    let total = table["samples"].as_f64().context("no number of samples")?;
    if total != all {
        bail!("the rows have {all} of {total} samples");
    }
    Ok((samples, unlabelled / all.max(1.0)))
}

/// Returns the place of a statement, which the server shows without its numbers.
fn place<'p>(places: &'p mut [f64; 3], query: &str) -> Result<&'p mut f64> {
    let [like, below, equal] = places;
    match query {
        _ if query.contains("LIKE") => Ok(like),
        _ if query.contains("aid <") => Ok(below),
        _ if query.contains("aid =") => Ok(equal),
        _ => bail!("another statement: {query}"),
    }
}
