"""Many recordings: each is turned into rows once, and an engine takes these rows. docs/SCALE.md of the project."""
