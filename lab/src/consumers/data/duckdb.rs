//! `DuckDB` with our Parquet file: its types, totals and most costly functions.

use std::process::Command;

use anyhow::{Context, Result, bail};
use xtask::command;

use crate::consumers::truth::Costs;
use crate::consumers::{Bench, tools};

/// Prints the type of the column of frames, the number of rows, the sum of the weights; then a line for each function:
/// `own<tab>inclusive<tab>name`. Then runs the queries of the documentation.
const SCRIPT: &str = r#"
import duckdb, sys
rows = duckdb.read_parquet(sys.argv[1])
print(dict(zip(rows.columns, rows.types))["frames"])
print(*duckdb.sql("SELECT count(*), coalesce(sum(weight), 0) FROM rows").fetchall()[0])
print_all = lambda query: [print(*row, sep="\t") for row in duckdb.sql(query).fetchall()]
print_all("""
    WITH own AS (SELECT frames[1].function AS name, count(*) AS n FROM rows GROUP BY ALL),
    every AS (SELECT unnest(list_distinct(list_transform(frames, lambda f: f.function))) AS name FROM rows),
    inclusive AS (SELECT name, count(*) AS n FROM every GROUP BY ALL)
    SELECT coalesce(own.n, 0), inclusive.n, inclusive.name FROM inclusive LEFT JOIN own USING (name)""")
for query in filter(str.strip, sys.argv[2].replace("stacks.parquet", sys.argv[1]).split(";")):
    if not duckdb.sql(query).fetchall(): sys.exit("nothing: " + query)
"#;

/// Type of the frames as the documentation states it.
const FRAMES: &str = "STRUCT(addr UBIGINT, module VARCHAR, build_id VARCHAR, svma UBIGINT, \
    offset UBIGINT, function VARCHAR, function_offset UBIGINT, file VARCHAR, line UINTEGER, \
    inlined BOOLEAN, found_by VARCHAR, kernel BOOLEAN)[]";

/// Runs the check.
pub(in crate::consumers) fn check(bench: &Bench<'_>) -> Result<String> {
    let file = bench.write("ours.parquet", &["--format", "parquet"])?;
    let mut query = Command::new("python3");
    query.args(["-c", SCRIPT]).arg(&file).arg(documented()?);
    query.env("PYTHONPATH", tools::python(bench)?);
    let printed = command::quiet_output(&mut query)?;
    let mut lines = printed.lines();
    // The set of names that are SQL keywords, and therefore quoted, changes between versions.
    let frames = lines.next().context("no type")?.replace('"', "");
    if frames != FRAMES {
        bail!("frames are {frames}");
    }
    let (total, weight) = lines.next().and_then(|line| line.split_once(' ')).context("no total")?;
    let periods = bench.folded(&["--weight", "period"])?;
    let ours: u64 = periods
        .lines()
        .map(|line| line.rsplit_once(' ').and_then(|(_, weight)| weight.parse::<u64>().ok()))
        .sum::<Option<u64>>()
        .context("no weight")?;
    if weight != ours.to_string() {
        bail!("the weight of all is {weight}, ours {ours}");
    }
    let costs = Costs::of_lines(lines)?;
    Ok(format!("{}, weight {weight}", bench.truth.compare(total.parse()?, &costs)?))
}

/// Returns the queries of the documentation, which must run unchanged.
fn documented() -> Result<String> {
    let page = std::fs::read_to_string(command::root().join("docs/OUTPUT.md"))?;
    let (_, block) = page.split_once("```sql\n").context("no queries in docs/OUTPUT.md")?;
    Ok(block.split_once("```").context("no end of the queries")?.0.to_owned())
}
