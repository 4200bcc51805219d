//! Costs as text.

use formats::share;

/// Returns a part of the total in 7 columns, such as ` 12.3 %`.
pub(crate) fn share_of(part: u64, total: u64) -> String {
    format!("{:>7}", share(part, total))
}
