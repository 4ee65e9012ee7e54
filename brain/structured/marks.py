"""Marks for ``Annotated`` types: what a value must be, beyond its type."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

__all__ = ["Exact", "Scale"]

_SHARE = re.compile(
    r"(?P<part>\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})\s{0,4}"
    r"(?:(?P<percent>%)|(?:/|out of)\s{0,4}(?P<whole>\d{1,15}(?:\.\d{0,15})?))"
)


@dataclass(frozen=True, slots=True)
class Scale:
    """A number from ``low`` to ``high``: ``Annotated[float, Scale(0, 1)]``.

    ``"0.8/1.0"``, ``"8 out of 10"`` and ``"80 %"`` say themselves which share of the whole they mean, and
    are read as that share. Anything else that is not on the scale does not fit: a bare ``7`` on a scale
    from 0 to 1 may be meant as 0.7, or as a good deal.
    """

    low: float
    high: float

    def json_schema(self) -> dict[str, Any]:
        """Return what the scale adds to the JSON schema of the number."""
        return {"minimum": self.low, "maximum": self.high}

    def check(self, value: Any) -> str:
        """Return what was expected if the value is not on the scale; ``""`` if it is."""
        return "" if self.low <= value <= self.high else f"a number from {self.low} to {self.high}"

    def read(self, value: Any) -> Any:
        """Return the number that a share such as ``"80 %"`` stands for; anything else as it is."""
        share = _SHARE.fullmatch(value.strip()) if isinstance(value, str) else None
        if share is None:
            return value
        part = float(share["part"])
        whole = 100.0 if share["percent"] else float(share["whole"])
        if not share["percent"] and whole == self.high:
            return part
        if self.low or not 0 <= part <= whole or not whole:
            return value
        return part / whole * self.high


@dataclass(frozen=True, slots=True)
class Exact:
    """A value that has to come as what it is: ``Annotated[bool, Exact()]`` takes ``false``, and no ``"false"``.

    For what a decision hangs on: a model that writes its verdict as a text may have meant a text.
    """

    def json_schema(self) -> dict[str, Any]:
        """Return what the mark adds to a JSON schema: nothing."""
        return {}
