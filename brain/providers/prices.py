"""What a run cost, by a price table of the user's own; none is shipped, because prices change."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from brain.errors import ConfigurationError
from brain.types import Reply, Usage

__all__ = ["Bill", "Price", "cost", "estimate_tokens", "tally"]

_MILLION = 1_000_000
# A dated version of a model is priced as the model: gpt-5-2026-08-07, claude-x-20260514, m@20260514.
_DATED = re.compile(r"[-@](\d{4}-\d{2}-\d{2}|20\d{6})$")


@dataclass(frozen=True, slots=True)
class Price:
    """Prices of a model for a million tokens, in whatever currency.

    Args:
        input: input tokens.
        output: output tokens, those of hidden reasoning included.
        cached_input: input tokens that came from the cache; by default as ``input``.
        cache_write: input tokens that were written to the cache; by default as ``input``.
    """

    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value: Any = getattr(self, name)
            if value is None and name.startswith("cache"):
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise ConfigurationError(f"the price for {name} must be a number from 0, got {value!r}")


@dataclass(frozen=True, slots=True)
class Bill:
    """What several model calls come to."""

    usage: Usage
    """Tokens of the calls that tell theirs."""
    cost: float | None
    """The cost of all calls; ``None`` if it is not known in full."""
    known_cost: float
    """The cost of the calls whose cost is known."""
    complete: bool
    """Whether every call told its tokens."""
    unpriced: tuple[str, ...] = ()
    """Models that are not in the price table."""


def cost(usage: Usage | None, model: str, prices: Mapping[str, Price | Mapping[str, float]]) -> float | None:
    """Return what a call cost; ``None``, and never 0, where its tokens or its price are not known.

    Args:
        usage: the tokens it took.
        model: the model's name; one with a date at its end is looked up without it, too.
        prices: model to ``Price``, or to a mapping with the keys of one.
    """
    price = _price(model, prices)
    if usage is None or price is None:
        return None
    read = min(usage.cache_read, usage.input_tokens)
    written = min(usage.cache_write, usage.input_tokens - read)
    total = (
        (usage.input_tokens - read - written) * price.input
        + read * (price.input if price.cached_input is None else price.cached_input)
        + written * (price.input if price.cache_write is None else price.cache_write)
        + usage.output_tokens * price.output
    )
    return total / _MILLION


def tally(calls: Any, prices: Mapping[str, Price | Mapping[str, float]]) -> Bill:
    """Add up the calls of a run.

    Args:
        calls: a ``PatternResult``, or replies, or pairs of a model's name and its ``Usage`` or ``None``.
        prices: model to ``Price``, or to a mapping with the keys of one.
    """
    usage, known, complete, all_known = Usage(), 0.0, True, True
    unpriced: dict[str, None] = {}
    for model, used in _calls(calls):
        if used is None:
            complete = False
        else:
            usage += used
        if _price(model, prices) is None:
            unpriced[model] = None
        each = cost(used, model, prices)
        if each is None:
            all_known = False
        else:
            known += each
    return Bill(usage, known if all_known else None, known, complete, tuple(unpriced))


def estimate_tokens(text: str | None) -> int:
    """Guess the tokens of a text, at four bytes a token as is common for English; no text is no tokens."""
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / 4) if text else 0


def _calls(calls: Any) -> Iterable[tuple[str, Usage | None]]:
    journal = getattr(calls, "journal", None)
    if journal is not None:
        calls = [entry.outcome for entry in journal if isinstance(entry.outcome, Reply)]
    for each in calls:
        yield (each.model, each.usage) if isinstance(each, Reply) else each


def _price(model: str, prices: Mapping[str, Price | Mapping[str, float]]) -> Price | None:
    found = prices.get(model) or prices.get(_DATED.sub("", model))
    if found is None or isinstance(found, Price):
        return found
    try:
        return Price(**found)
    except TypeError:
        known = ", ".join(Price.__slots__)
        raise ConfigurationError(f"the price of {model!r} needs input and output; it may have {known}") from None
