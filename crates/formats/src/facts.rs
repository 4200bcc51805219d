//! The facts of a format beside its printer. Each stands in the file of the format.

/// How a format shows the weights of stacks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ShownWeights {
    /// Those of all kinds at once.
    Both,
    /// The chosen one, added up over the samples of one event.
    Added,
    /// The chosen one of each sample.
    PerSample,
    /// None: it has the records that its reader makes weights of.
    Events,
}

/// Everything about a format but its printer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FormatFacts {
    pub(crate) name: &'static str,
    pub(crate) endings: &'static [&'static str],
    pub(crate) about: &'static str,
    pub(crate) media_type: &'static str,
    pub(crate) is_binary: bool,
    pub(crate) weights: ShownWeights,
}

/// The media type of text.
pub(crate) const PLAIN: &str = "text/plain; charset=utf-8";
/// The media type of bytes without a registered one.
pub(crate) const BYTES: &str = "application/octet-stream";

impl FormatFacts {
    /// Those of a text that shows the weights of all kinds.
    pub(crate) const fn text(
        name: &'static str,
        about: &'static str,
        endings: &'static [&'static str],
        media_type: &'static str,
    ) -> Self {
        Self { name, about, endings, media_type, is_binary: false, weights: ShownWeights::Both }
    }

    /// Those of a format that no terminal can show.
    pub(crate) const fn binary(
        name: &'static str,
        about: &'static str,
        endings: &'static [&'static str],
        media_type: &'static str,
    ) -> Self {
        Self { is_binary: true, ..Self::text(name, about, endings, media_type) }
    }
}
