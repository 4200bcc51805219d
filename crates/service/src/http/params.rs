//! Query parameters of an address. Unknown parameters are rejected, so that a misspelt name does not silently select
//! the default.

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use options::{ChoiceOrValue, SampleFilter, ValueOptions, Weight};
use serde_json::{Map, Value};

use crate::problem::{Problem, ProblemKind};
use crate::protocol::RunOptions;

/// Names and values of parameters.
#[derive(Debug)]
pub(super) struct Params(Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let pairs = Query::<Vec<(String, String)>>::from_request_parts(parts, state).await;
        let pairs =
            pairs.map_err(|error| Problem::new(ProblemKind::BadRequest).detail(error.body_text()));
        Ok(Self(pairs?.0))
    }
}

impl Params {
    /// Removes and returns a parameter; `None` if it is absent.
    ///
    /// # Errors
    /// If it occurs twice.
    pub(super) fn take(&mut self, name: &str) -> Result<Option<String>, Problem> {
        let mut found = self.0.extract_if(.., |(known, _)| known == name).map(|(_, value)| value);
        match (found.next(), found.next()) {
            (value, None) => Ok(value),
            _ => {
                Err(Problem::new(ProblemKind::BadRequest).detail(format!("{name} is there twice")))
            }
        }
    }

    /// Removes and returns the options of the run.
    ///
    /// # Errors
    /// If a value is invalid.
    pub(super) fn options(&mut self) -> Result<RunOptions, Problem> {
        let mut map = Map::new();
        for name in ValueOptions::NAMES {
            // Each value of a list is a parameter of its own, since conditions and spans have commas.
            let found = self.0.extract_if(.., |(known, _)| known == name);
            let mut values: Vec<Value> = found.map(|(_, value)| value.into()).collect();
            match values.len() {
                0 => {}
                1 => drop(map.insert(name.to_owned(), values.swap_remove(0))),
                _ => drop(map.insert(name.to_owned(), values.into())),
            }
        }
        for name in RunOptions::USUAL {
            let Some(text) = self.take(name)? else { continue };
            // `true` and `7` keep their JSON types; other values are strings.
            let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
            map.insert(name.to_owned(), value);
        }
        let options = serde_json::from_value(Value::Object(map));
        options.map_err(|error| Problem::new(ProblemKind::BadRequest).detail(error.to_string()))
    }

    /// Removes and returns the weight of a sample, which can imply an option of the run.
    ///
    /// # Errors
    /// If it occurs twice.
    pub(super) fn weight(&mut self, options: &mut RunOptions) -> Result<Option<Weight>, Problem> {
        let Some(text) = self.take("weight")? else { return Ok(None) };
        let weight = match ChoiceOrValue::<Weight>::read(&text) {
            ChoiceOrValue::Choice(weight) => weight,
            ChoiceOrValue::Value(field) => {
                options.values.weigh_by(&field);
                Weight::Period
            }
        };
        if weight == Weight::OffCpu {
            options.usual.off_cpu = Some(true);
        }
        Ok(Some(weight))
    }

    /// Removes and returns the filter for samples, in the syntax of the command: comma-separated lists.
    ///
    /// # Errors
    /// If a value is invalid.
    pub(super) fn samples(&mut self) -> Result<SampleFilter, Problem> {
        let mut map = Map::new();
        for name in SampleFilter::names() {
            if let Some(text) = self.take(&name)? {
                map.insert(name, Value::String(text));
            }
        }
        let samples = SampleFilter::from_object(map);
        samples.map_err(|error| Problem::new(ProblemKind::BadRequest).detail(error.to_string()))
    }

    /// Checks that no parameter is left.
    ///
    /// # Errors
    /// If there is one.
    pub(super) fn end(self) -> Result<(), Problem> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => {
                Err(Problem::new(ProblemKind::BadRequest)
                    .detail(format!("{name} means nothing here")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use options::{Demangle, Join};

    use super::*;

    fn params(pairs: &[(&str, &str)]) -> Params {
        Params(pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    #[test]
    fn words_become_options() {
        let mut all = params(&[("inlines", "false"), ("demangle", "short"), ("max_frames", "9")]);
        let options = all.options().unwrap();
        assert_eq!(options.usual.demangle, Some(Demangle::Short));
        assert_eq!((options.usual.inlines, options.usual.join), (false, Join::Gaps));
        assert_eq!(options.usual.max_frames.get(), 9);
        all.end().unwrap();
        assert_eq!(params(&[]).options().unwrap(), RunOptions::default());
    }

    #[test]
    fn lists_of_values_are_repeated_parameters() {
        let mut all = params(&[
            ("where", "state=1"),
            ("where", "query=select a,b"),
            ("span", "request=p:begin,p:end"),
            ("weight", "request"),
        ]);
        let mut options = all.options().unwrap();
        assert_eq!(all.weight(&mut options).unwrap(), Some(Weight::Period));
        all.end().unwrap();
        let object = Value::Object(options.values.to_object()).to_string();
        let expected = r#"{"span":["request=p:begin,p:end"],"weight_field":"request","where":["state=1","query=select a,b"]}"#;
        assert_eq!(object, expected);
    }

    #[test]
    fn words_choose_samples() {
        let mut all = params(&[("pid", "1,2"), ("comm", "a,b"), ("time", "10%-20%")]);
        let samples = all.samples().unwrap();
        assert_eq!(samples.pids, [address::Pid(1), address::Pid(2)]);
        assert_eq!(samples.comms, [b"a", b"b"]);
        assert_eq!(samples.time, "10%,20%".parse().unwrap());
        all.end().unwrap();
        assert_eq!(params(&[]).samples().unwrap(), SampleFilter::default());
        for wrong in [("pid", "x"), ("time", "5")] {
            assert!(params(&[wrong]).samples().is_err(), "{wrong:?}");
        }
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
