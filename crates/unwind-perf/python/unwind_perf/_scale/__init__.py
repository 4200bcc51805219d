"""Processing of many recordings: each is converted to rows once, for use in an engine. See docs/SCALE.md of the
project."""
