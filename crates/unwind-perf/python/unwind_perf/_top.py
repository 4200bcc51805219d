"""What costs most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Optional, Tuple, Union

from ._options import PathLike
from ._tree import Function, counted_event, frame_functions, stack_weights

if TYPE_CHECKING:
    import pyarrow as pa

    from ._recording import Recording


def top(
    recording: "Union[Recording, PathLike]",
    *,
    by: str = "function",
    weight: str = "samples",
    event: Optional[str] = None,
) -> "pa.Table":
    """The functions, or modules, that cost most: ``function``, ``module``, ``own``, ``inclusive`` and both as shares.

    Samples of one event are counted: the named one, else the first that has samples. A function that is in a stack more
    than once is counted once. ``by``: ``"function"`` or ``"module"``. ``weight``: ``"samples"`` or ``"period"``.
    """
    import pyarrow as pa

    from ._reading import read
    from ._recording import Recording

    if by not in ("function", "module"):
        raise ValueError('by has to be "function" or "module"')
    if not isinstance(recording, Recording):
        recording = read(recording)
    number = counted_event(recording, event)
    weights = stack_weights(recording, number, weight)
    own, inclusive = _costs(recording, weights, by)
    total = sum(weights.values())
    rows = sorted(inclusive, key=lambda key: (-own.get(key, 0), -inclusive[key], key[0]))

    def share(cost: int) -> float:
        return cost / total if total else 0.0

    columns = {} if by == "module" else {"function": pa.array([key[0] for key in rows], pa.string())}
    return pa.table(
        {
            **columns,
            "module": pa.array([key[1] for key in rows], pa.string()),
            "own": pa.array([own.get(key, 0) for key in rows], pa.uint64()),
            "inclusive": pa.array([inclusive[key] for key in rows], pa.uint64()),
            "own_share": pa.array([share(own.get(key, 0)) for key in rows], pa.float64()),
            "inclusive_share": pa.array([share(inclusive[key]) for key in rows], pa.float64()),
        }
    )


def _costs(
    recording: "Recording", weights: Dict[Optional[int], int], by: str
) -> Tuple[Dict[Function, int], Dict[Function, int]]:
    """The own and the inclusive cost of each function.

    Each node of the tree of stacks weighs what the samples below it weigh. A node adds that to those of its functions
    that none of its callers is.
    """
    functions = frame_functions(recording)
    if by == "module":
        functions = [[(path or "", path) for _, path in chain] for chain in functions]
    parents: List[Optional[int]] = recording.stacks["parent"].to_pylist()
    frames: List[int] = recording.stacks["frame"].to_pylist()
    below = [weights.get(node, 0) for node in range(len(parents))]
    # Parents come before their children.
    for node in range(len(parents) - 1, -1, -1):
        parent = parents[node]
        if parent is not None:
            below[parent] += below[node]
    own: Dict[Function, int] = {}
    for stack, cost in weights.items():
        if stack is not None:
            innermost = functions[frames[stack]][0]
            own[innermost] = own.get(innermost, 0) + cost
    children: List[List[int]] = [[] for _ in parents]
    roots: List[int] = []
    for node, parent in enumerate(parents):
        (roots if parent is None else children[parent]).append(node)
    inclusive: Dict[Function, int] = {}
    # Each entry is a node to go into, or, as ~node, one to leave.
    waiting = [node for node in roots if below[node]]
    depth: Dict[Function, int] = {}
    while waiting:
        node = waiting.pop()
        if node < 0:
            for function in functions[frames[~node]]:
                depth[function] -= 1
            continue
        for function in functions[frames[node]]:
            seen = depth.get(function, 0)
            if seen == 0:
                inclusive[function] = inclusive.get(function, 0) + below[node]
            depth[function] = seen + 1
        waiting.append(~node)
        waiting += [child for child in children[node] if below[child]]
    return own, inclusive
