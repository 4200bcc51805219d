"""Small flame graph for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Dict, List, Tuple

from ._tree import frame_functions, stack_counts

if TYPE_CHECKING:
    from ._recording import Recording

_WIDTH = 900
_ROW = 16
# Maximum number of rows, and minimum width of a drawn function in pixels.
_DEEPEST = 24
_NARROWEST = 2.0


class _Node:
    """Function below its callers."""

    __slots__ = ("cost", "callees")

    def __init__(self) -> None:
        self.cost = 0
        self.callees: Dict[str, _Node] = {}


def flame_graph(recording: "Recording") -> str:
    """Returns the outermost functions of the first event with samples, as self-contained HTML."""
    root = _tree(recording)
    boxes: List[str] = []
    rows = 0
    waiting: List[Tuple[_Node, float, int]] = [(root, 0.0, 0)]
    scale = _WIDTH / root.cost if root.cost else 0.0
    while waiting:
        node, left, row = waiting.pop()
        for name, callee in sorted(node.callees.items()):
            width = callee.cost * scale
            if width >= _NARROWEST and row < _DEEPEST:
                boxes.append(_box(name, left, row, width, callee.cost, root.cost))
                waiting.append((callee, left, row + 1))
                rows = max(rows, row + 1)
            left += width
    title = escape(repr(recording))
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{rows * _ROW}" '
        f'font-family="sans-serif" font-size="11">{"".join(boxes)}</svg>'
    )
    return f"<div><div>{title}</div>{picture}</div>"


def _tree(recording: "Recording") -> _Node:
    functions = frame_functions(recording)
    parents = recording.stacks["parent"].to_pylist()
    frames = recording.stacks["frame"].to_pylist()
    root = _Node()
    for stack, cost in stack_counts(recording).items():
        root.cost += cost
        chain: List[str] = []
        node = stack
        while node is not None:
            chain += [name for name, _ in functions[frames[node]]]
            node = parents[node]
        at = root
        for name in reversed(chain[-_DEEPEST:]):
            at = at.callees.setdefault(name, _Node())
            at.cost += cost
    return root


def _box(name: str, left: float, row: int, width: float, cost: int, total: int) -> str:
    text = escape(name)
    shown = name if len(name) * 6.5 < width else name[: max(0, int(width / 6.5) - 1)] + "…"
    label = escape(shown) if width > 25 else ""
    hue = 20 + sum(name.encode("utf-8", "replace")) % 35
    top = row * _ROW
    return (
        f"<g><title>{text}: {cost} samples, {100 * cost / total:.1f} %</title>"
        f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{_ROW - 1}" fill="hsl({hue},80%,70%)"/>'
        f'<text x="{left + 3:.1f}" y="{top + 11}" fill="#000">{label}</text></g>'
    )
