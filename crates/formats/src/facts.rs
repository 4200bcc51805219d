//! Static properties of formats. Each format's constant is in that format's file.

/// Stack weights that a format shows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ShownWeights {
    /// The weights of all kinds at once.
    Both,
    /// The selected weight, summed over the samples of one event.
    Added,
    /// The selected weight of each sample.
    PerSample,
    /// None: the format has the records from which its reader computes weights.
    Events,
}

/// Properties of a format, without its printer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FormatFacts {
    pub(crate) name: &'static str,
    pub(crate) endings: &'static [&'static str],
    pub(crate) about: &'static str,
    pub(crate) media_type: &'static str,
    pub(crate) is_binary: bool,
    pub(crate) weights: ShownWeights,
}

/// Media type of text.
pub(crate) const PLAIN: &str = "text/plain; charset=utf-8";
/// Media type of bytes without a registered type.
pub(crate) const BYTES: &str = "application/octet-stream";

impl FormatFacts {
    /// Facts of a text format that shows the weights of all kinds.
    pub(crate) const fn text(
        name: &'static str,
        about: &'static str,
        endings: &'static [&'static str],
        media_type: &'static str,
    ) -> Self {
        Self { name, about, endings, media_type, is_binary: false, weights: ShownWeights::Both }
    }

    /// Facts of a binary format, which a terminal cannot show.
    pub(crate) const fn binary(
        name: &'static str,
        about: &'static str,
        endings: &'static [&'static str],
        media_type: &'static str,
    ) -> Self {
        Self { is_binary: true, ..Self::text(name, about, endings, media_type) }
    }
}
