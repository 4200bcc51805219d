//! Programs that take profiles as data: `DuckDB`, the collectors of OpenTelemetry, Python, Spark.

pub(super) mod duckdb;
pub(super) mod otlp;
pub(super) mod python;
pub(super) mod spark;
