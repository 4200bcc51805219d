//! Programs that take profiles as data (`DuckDB`, the collectors of OpenTelemetry, Python, Spark), and `PostgreSQL`,
//! whose statistics are the same data from another source.

pub(super) mod duckdb;
pub(super) mod otlp;
pub(super) mod postgresql;
pub(super) mod python;
pub(super) mod spark;
