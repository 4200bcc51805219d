//! Closed choices: enums with keywords as values.

use std::fmt::Debug;

/// A closed choice. Its keywords are interface: they do not change.
pub trait Choice: Copy + PartialEq + Debug + Send + Sync + 'static {
    /// All values, in the order of the documentation.
    const ALL: &'static [Self];

    /// The keyword.
    fn as_str(self) -> &'static str;

    /// One sentence for users, without a full stop.
    fn about(self) -> &'static str;
}

/// A text that is not a keyword of a choice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is none of {}", expected.join(", "))]
pub struct UnknownChoice {
    /// The text.
    pub found: String,
    /// The keywords.
    pub expected: &'static [&'static str],
}

/// Defines closed choices. The documentation of a value is the sentence that users see beside its keyword.
macro_rules! choices {
    ($(
        $(#[$meta:meta])*
        $name:ident, default $default:ident {
            $($(#[doc = $about:literal])+ $variant:ident = $word:literal,)*
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name {
            $($(#[doc = $about])+ $variant,)*
        }

        impl $name {
            /// All values, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// All keywords, in the same order.
            pub const WORDS: &[&str] = &[$($word,)*];

            /// The keyword. It is interface: it does not change.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl $crate::Choice for $name {
            const ALL: &'static [Self] = Self::ALL;

            fn as_str(self) -> &'static str {
                self.as_str()
            }

            fn about(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($about),+).trim_start(),)*
                }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::$default
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownChoice;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.iter().find(|value| value.as_str() == text).copied();
                found.ok_or_else(|| $crate::UnknownChoice {
                    found: text.to_owned(),
                    expected: Self::WORDS,
                })
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(|_| {
                    serde::de::Error::unknown_variant(&text, Self::WORDS)
                })
            }
        }
    )*};
}
pub(crate) use choices;
