//! Programs that take profiles as data (`DuckDB`, the collectors of OpenTelemetry, Python, Spark), and `PostgreSQL`,
//! whose statistics are the same data from another source, as are sums of a counter in place of `malloc`.

pub(super) mod duckdb;
pub(super) mod malloc;
pub(super) mod otlp;
pub(super) mod postgresql;
mod probe;
pub(super) mod python;
pub(super) mod spark;
