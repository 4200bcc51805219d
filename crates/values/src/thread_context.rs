//! The context that OpenTelemetry publishes for a thread: trace, span and attributes of the active request.
//!
//! Source: OTEP 4947, "Thread Context: Sharing Thread-Level Information with External Readers", "Thread-Local Context
//! Record".

use std::collections::BTreeMap;

use crate::absence::Absence;
use crate::expr::{Context, Place};
use crate::request::PathStep;
use crate::types::Value;

/// Name of the thread-local pointer to the record.
pub(crate) const VARIABLE: &str = "otel_thread_ctx_v1";
/// Size of the record before its attributes, in bytes.
const HEAD: u64 = 28;

/// A part of the record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// All parts as text.
    Whole,
    /// Identifier of the trace, as hexadecimal digits.
    Trace,
    /// Identifier of the span, as hexadecimal digits.
    Span,
    /// Flags of the trace.
    Flags,
    /// The attribute with a key. Names of keys are in other memory of the process.
    Attribute(u8),
}

impl Part {
    /// Names of the parts.
    pub(crate) const NAMES: [&str; 4] = ["trace_id", "span_id", "trace_flags", "attributes[KEY]"];

    /// Returns the part that a path names; `None` if there is none.
    pub(crate) fn of(steps: &[PathStep]) -> Option<Self> {
        match steps {
            [] => Some(Self::Whole),
            [PathStep::Field(name)] => match name.as_str() {
                "trace_id" => Some(Self::Trace),
                "span_id" => Some(Self::Span),
                "trace_flags" => Some(Self::Flags),
                _ => None,
            },
            [PathStep::Field(name), PathStep::Index(key)] if name == "attributes" => {
                u8::try_from(*key).ok().map(Self::Attribute)
            }
            _ => None,
        }
    }

    /// Reads the part, given the place of the pointer.
    pub(crate) fn value(self, pointer: &Place, context: &Context<'_>) -> Result<Value, Absence> {
        let address = pointer.unsigned(0, 8, context)? as u64;
        if address == 0 {
            return Err(Absence::NoContext);
        }
        let record = Place::memory(address, pointer.is_big_endian());
        let head = record.read(0, HEAD, context)?;
        let [.., 1, flags, _, _] = *head.as_slice() else { return Err(Absence::NoContext) };
        let hex = |bytes: Option<&[u8]>| -> String {
            bytes.unwrap_or_default().iter().map(|byte| format!("{byte:02x}")).collect()
        };
        let (trace, span) = (hex(head.get(..16)), hex(head.get(16..24)));
        let text = |text: String| Value::Text { bytes: text.into_bytes(), cut: false };
        Ok(match self {
            Self::Trace => text(trace),
            Self::Span => text(span),
            Self::Flags => Value::Unsigned { number: flags.into(), bits: 8 },
            Self::Attribute(key) => {
                let mut all = attributes(&record, context)?;
                let bytes = all.remove(&key).ok_or(Absence::NoContext)?;
                Value::Text { bytes, cut: false }
            }
            Self::Whole => {
                let mut bytes = format!("{trace} {span} {flags:02x}").into_bytes();
                for (key, value) in attributes(&record, context)? {
                    bytes.extend(format!(" {key}=").into_bytes());
                    bytes.extend(value);
                }
                Value::Text { bytes, cut: false }
            }
        })
    }
}

/// Returns the attributes by key. Of several with one key, the last counts; an incomplete one ends the list.
fn attributes(record: &Place, context: &Context<'_>) -> Result<BTreeMap<u8, Vec<u8>>, Absence> {
    let size = record.unsigned(26, 2, context)? as u64;
    let data = record.read(HEAD, size, context)?;
    let mut attributes = BTreeMap::new();
    let mut rest = data.as_slice();
    while let [key, length, after @ ..] = rest {
        let Some((value, next)) = after.split_at_checked(usize::from(*length)) else { break };
        attributes.insert(*key, value.to_vec());
        rest = next;
    }
    Ok(attributes)
}
