//! The Python package on a real Spark cluster: a master and two workers on the loopback, one of which is lost.

use std::process::Command;

use anyhow::Result;
use xtask::command;
use xtask::machine::interpreters;

use super::python;
use crate::consumers::{Bench, Missing};

const INSTALL: &str = "apt-get install -y --no-install-recommends openjdk-17-jre-headless";

/// Returns the command of the Java that runs Spark: that of `JAVA_HOME`, else that of the search path. It is installed
/// from Debian if there is none.
fn java() -> String {
    let home = std::env::var("JAVA_HOME").ok().filter(|home| !home.is_empty());
    let java = home.map_or("java".to_owned(), |home| format!("{home}/bin/java"));
    format!("{java} -version")
}

/// Packages with Spark and its jars, 490 MB.
const PACKAGES: &str = "pyspark pyarrow";

/// Minor version of the oldest Python that Spark 4 supports.
const OLDEST: u32 = 10;

/// Runs the check.
pub(in crate::consumers) fn check(bench: &Bench<'_>) -> Result<String> {
    let newest = interpreters().pop().filter(|it| it.minor >= OLDEST);
    let interpreter = newest.ok_or_else(|| Missing(format!("no Python of 3.{OLDEST} or newer")))?;
    bench.need(&java(), INSTALL)?;
    let python = python::environment(bench, &interpreter.path, "spark", PACKAGES)?;
    let package = python::package();
    let mut run = Command::new(&python);
    run.arg(package.join("tests/spark_cluster.py")).env("PYTHONPATH", &package);
    run.env("UNWIND_PERF_PROGRAM", bench.ours).env("PYTHONDONTWRITEBYTECODE", "1");
    let told = command::quiet_output(&mut run)?;
    let lines: Vec<&str> = told.lines().filter(|line| line.contains("the same")).collect();
    Ok(lines.join("; "))
}
