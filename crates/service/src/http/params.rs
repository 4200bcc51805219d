//! What stands behind the `?` of an address. What means nothing is refused, so that a misspelt word is not taken for the
//! usual choice.

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use serde_json::{Map, Value};

use crate::problem::{Kind, Problem};
use crate::protocol::{RunOptions, SampleWords};
use crate::query::WeightChoice;

/// Words and their values.
#[derive(Debug)]
pub(super) struct Params(Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let pairs = Query::<Vec<(String, String)>>::from_request_parts(parts, state).await;
        let pairs = pairs.map_err(|error| Problem::new(Kind::BadRequest).detail(error.body_text()));
        Ok(Self(pairs?.0))
    }
}

impl Params {
    /// Takes a word out; `None` where it is not there.
    ///
    /// # Errors
    /// Where it is there twice.
    pub(super) fn take(&mut self, name: &str) -> Result<Option<String>, Problem> {
        let mut found = self.0.extract_if(.., |(known, _)| known == name).map(|(_, value)| value);
        match (found.next(), found.next()) {
            (value, None) => Ok(value),
            _ => Err(Problem::new(Kind::BadRequest).detail(format!("{name} is there twice"))),
        }
    }

    /// Takes what is said of the run out.
    ///
    /// # Errors
    /// Where it means nothing.
    pub(super) fn options(&mut self) -> Result<RunOptions, Problem> {
        let mut map = Map::new();
        for name in ["inlines", "demangle", "join", "max_frames", "off_cpu"] {
            let Some(text) = self.take(name)? else { continue };
            // `true` and `7` are what they are in JSON, words are words.
            let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
            map.insert(name.to_owned(), value);
        }
        let options = serde_json::from_value(Value::Object(map));
        options.map_err(|error| Problem::new(Kind::BadRequest).detail(error.to_string()))
    }

    /// Takes what a sample weighs out, which may be part of what is said of the run.
    ///
    /// # Errors
    /// Where it means nothing.
    pub(super) fn weight(
        &mut self,
        options: &mut RunOptions,
    ) -> Result<Option<WeightChoice>, Problem> {
        let Some(text) = self.take("weight")? else { return Ok(None) };
        let bad = |_| Problem::new(Kind::BadRequest).detail("weight is samples, period or off-cpu");
        let weight = serde_json::from_value(Value::String(text)).map_err(bad)?;
        options.off_cpu |= weight == WeightChoice::OffCpu;
        Ok(Some(weight))
    }

    /// Takes which samples are wanted out, in the words of the command: lists with commas.
    ///
    /// # Errors
    /// Where an id is no number.
    pub(super) fn samples(&mut self) -> Result<SampleWords, Problem> {
        let mut texts = |name: &str| -> Result<Vec<String>, Problem> {
            let text = self.take(name)?;
            Ok(text.map_or(Vec::new(), |text| text.split(',').map(str::to_owned).collect()))
        };
        let ids = |name: &str, texts: Vec<String>| -> Result<Vec<i32>, Problem> {
            let bad = |_| Problem::new(Kind::BadRequest).detail(format!("{name} is a number"));
            texts.iter().map(|text| text.parse().map_err(bad)).collect()
        };
        Ok(SampleWords {
            pid: ids("pid", texts("pid")?)?,
            tid: ids("tid", texts("tid")?)?,
            comm: texts("comm")?,
            cgroup: texts("cgroup")?,
            event: texts("event")?,
            time: self.take("time")?,
        })
    }

    /// Nothing may be left.
    ///
    /// # Errors
    /// Where something is.
    pub(super) fn end(self) -> Result<(), Problem> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => {
                Err(Problem::new(Kind::BadRequest).detail(format!("{name} means nothing here")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{DemangleChoice, JoinChoice};

    fn params(pairs: &[(&str, &str)]) -> Params {
        Params(pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    #[test]
    fn words_become_options() {
        let mut all = params(&[("inlines", "false"), ("demangle", "short"), ("max_frames", "9")]);
        let options = all.options().unwrap();
        assert_eq!(options.demangle, DemangleChoice::Short);
        assert_eq!((options.inlines, options.join), (false, JoinChoice::Gaps));
        assert_eq!(options.max_frames.get(), 9);
        all.end().unwrap();
        assert_eq!(params(&[]).options().unwrap(), RunOptions::default());
    }

    #[test]
    fn what_means_nothing_is_refused() {
        for pairs in [
            &[("inlines", "perhaps")][..],
            &[("max_frames", "0")],
            &[("join", "off"), ("join", "exact")],
            &[("inline", "false")],
            &[("off_cpu", "often")],
        ] {
            let mut all = params(pairs);
            assert!(all.options().and_then(|_| all.end()).is_err(), "{pairs:?}");
        }
    }
}
