"""Query conditions that are applied before the engine receives the rows. The engine applies them again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterable, List, NamedTuple, Optional

if TYPE_CHECKING:
    import pyarrow as pa

_NUMBERS = ("pid", "tid", "time_ns")
_NAMES = ("comm", "event")
_LOWER = ("GreaterThan", "GreaterThanOrEqual")
_UPPER = ("LessThan", "LessThanOrEqual")
_ONE_OF = ("EqualTo", "In")
# Margin around a time range in nanoseconds: samples in it are read as well, and the engine decides on the exact limit.
_MARGIN = 1000


class Condition(NamedTuple):
    """Condition on a column: an operator and its values."""

    column: str
    operator: str
    values: List[Any]

    def mask(self, batch: "pa.RecordBatch") -> Any:
        """Returns the rows that satisfy it, as a mask; null if the column is null."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = batch.column(self.column)
        if self.column in _NUMBERS:
            column = column.cast(pa.int64())
        values = pa.array(self.values, column.type)
        if self.operator in _ONE_OF:
            return pc.is_in(column, value_set=values)
        compare = {
            "GreaterThan": pc.greater,
            "GreaterThanOrEqual": pc.greater_equal,
            "LessThan": pc.less,
            "LessThanOrEqual": pc.less_equal,
        }
        return compare[self.operator](column, values[0])


def condition(filter: Any) -> Optional[Condition]:
    """Converts a filter of Spark; ``None`` if its column or its kind is not supported."""
    column = filter.attribute[0] if len(getattr(filter, "attribute", ())) == 1 else None
    operator = type(filter).__name__
    kind: type = int if column in _NUMBERS else str
    known = _ONE_OF + (_LOWER + _UPPER if kind is int else ())
    if column not in _NUMBERS + _NAMES or operator not in known:
        return None
    values = [one for one in (filter.value if operator == "In" else [filter.value]) if one is not None]
    fits = all(type(one) is kind and not (isinstance(one, int) and abs(one) >= 2**63) for one in values)
    return Condition(column, operator, values) if values and fits else None


def wanted(batch: "pa.RecordBatch", conditions: Iterable[Condition]) -> "pa.RecordBatch":
    """Returns the rows that satisfy all conditions."""
    for one in conditions:
        batch = batch.filter(one.mask(batch))
    return batch


def options_of(conditions: Iterable[Condition], options: Dict[str, Any]) -> Dict[str, Any]:
    """Returns the options, extended by filters for samples that no condition selects.

    This applies only if chains are not completed from other samples (``join=False``). Otherwise each sample can be
    evidence for chains of others, so that omitting samples would change the remaining rows.
    """
    if options.get("join") not in (False, "off"):
        return options
    more = dict(options)
    first, last = None, None
    for column, operator, values in conditions:
        if operator in _ONE_OF and column != "time_ns":
            if column not in more and _nameable(column, values):
                more[column] = values
        elif operator in _LOWER:
            first = max(values[0] - _MARGIN, first or 0, 0)
        elif operator in _UPPER:
            last = min(values[0] + _MARGIN, values[0] + _MARGIN if last is None else last)
    in_order = last is None or max(first or 0, 0) <= last
    if "time" not in more and in_order and not first == last:
        more["time"] = ",".join("" if end is None else f"{end // 10**9}.{end % 10**9:09}" for end in (first, last))
    return more


def _nameable(column: str, values: List[Any]) -> bool:
    """Returns true if the program can filter by these values.

    It parses names as patterns that are separated by commas, and a plain name matches itself. If several events are
    given, it rejects those that the recording does not have.
    """
    if column == "event" and len(values) > 1:
        return False
    return not any(isinstance(one, str) and (not one or "," in one) for one in values)
