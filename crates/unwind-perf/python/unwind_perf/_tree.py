"""Stacks of a recording as lists, and the functions of each frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Optional, Tuple

if TYPE_CHECKING:
    from ._recording import Recording

#: Function: its name, and its module's path.
Function = Tuple[str, Optional[str]]


def stack_counts(recording: "Recording") -> Dict[Optional[int], int]:
    """Returns the number of samples by stack, for the first event with samples."""
    import pyarrow as pa
    import pyarrow.compute as pc

    samples = recording.samples
    events: List[int] = samples["event"].unique().to_pylist()
    if not events:
        return {}
    samples = samples.filter(pc.equal(samples["event"], pa.scalar(min(events), pa.uint32())))
    counts = pc.value_counts(samples["stack"].combine_chunks()).to_pylist()
    return {count["values"]: count["counts"] for count in counts}


def frame_functions(recording: "Recording") -> List[List[Function]]:
    """Returns the functions of each frame, innermost first."""
    paths = recording.modules["path"].to_pylist()
    names = recording.inlines["function"].to_pylist()
    modules = recording.locations["module"].to_pylist()
    firsts = recording.locations["first_inline"].to_pylist()
    counts = recording.locations["n_inlines"].to_pylist()

    def of_location(location: int) -> List[Function]:
        path = None if modules[location] is None else paths[modules[location]]
        first, count = firsts[location], counts[location]
        unknown = f"[unknown] in {path}" if path else "[unknown]"
        return [(names[at] or unknown, path) for at in range(first, first + count)] or [(unknown, path)]

    known = [of_location(location) for location in range(len(modules))]
    return [known[location] for location in recording.frames["location"].to_pylist()]
