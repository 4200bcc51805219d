"""The stacks of a recording as lists, and the functions of each frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Optional, Tuple

if TYPE_CHECKING:
    from ._recording import Recording

#: A function: its name, and its module's path.
Function = Tuple[str, Optional[str]]


def counted_event(recording: "Recording", event: Optional[str]) -> Optional[int]:
    """The number of the event that is counted: the named one, else the first that has samples."""
    names: List[str] = recording.events["name"].to_pylist()
    if event is not None:
        if event not in names:
            raise ValueError(f"no event {event!r}; there are {', '.join(names)}")
        return names.index(event)
    seen: List[int] = recording.samples["event"].unique().to_pylist()
    return min(seen) if seen else None


def stack_weights(recording: "Recording", event: Optional[int], weight: str) -> Dict[Optional[int], int]:
    """What the samples of an event weigh, by stack."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if weight not in ("samples", "period"):
        raise ValueError('weight has to be "samples" or "period"')
    samples = recording.samples
    if event is None:
        return {}
    samples = samples.filter(pc.equal(samples["event"], pa.scalar(event, pa.uint32())))
    one = pa.scalar(1, pa.uint64())
    costs = pc.fill_null(samples["period"], one) if weight == "period" else pa.array([1] * samples.num_rows, pa.uint64())
    sums = pa.table({"stack": samples["stack"], "cost": costs}).group_by("stack").aggregate([("cost", "sum")])
    return dict(zip(sums["stack"].to_pylist(), sums["cost_sum"].to_pylist()))


def frame_functions(recording: "Recording") -> List[List[Function]]:
    """The functions of each frame, the innermost first."""
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
