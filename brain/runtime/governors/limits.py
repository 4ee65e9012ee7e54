"""Hooks that govern: what a run may use before it is stopped."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from brain.errors import BudgetExceeded, ConfigurationError, WrongType, whole_number
from brain.ledger import about_tokens
from brain.policy import Act, Ask, Execute
from brain.runtime.hooks import Hook
from brain.runtime.journal import Entry
from brain.types import PatternResult, Reply

__all__ = ["Limits"]


class Limits(Hook):
    """Stops a run that asks for more than it may use; each run has its own count.

    Before each action it is checked whether there is room for it. A reply that goes over a limit of tokens
    or seconds and is the answer stands: the result then says so in its ``warnings``. One that calls tools
    is stopped there, and the tools are not called. What a resumed run had used before counts too.

    Args:
        model_calls: how many times the model may be asked, failed calls included.
        tool_calls: how many calls of tools may be made.
        tokens: how many tokens model calls may take, input and output; where the provider tells none, four
            characters count as one.
        seconds: how long the run may take; an action under way is not cut short.
        cost: what model calls may cost, in the currency of ``price``.
        price: what a reply has cost, such as ``lambda reply: brain.providers.cost(reply.usage, reply.model, prices)``;
            ``None`` where it is not known, and the run then ends before its next action.
        clock: monotonic time in seconds.

    Raises:
        ConfigurationError: a limit is not more than zero, or none is given.
    """

    def __init__(
        self,
        model_calls: int | None = None,
        tool_calls: int | None = None,
        tokens: int | None = None,
        seconds: float | None = None,
        cost: float | None = None,
        *,
        price: Callable[[Reply], float | None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        counts = {"model_calls": model_calls, "tool_calls": tool_calls, "tokens": tokens}
        for name, value in counts.items():
            if value is not None:
                whole_number("Limits", name, value, 0 if name == "tool_calls" else 1)
        for name, amount in (("seconds", seconds), ("cost", cost)):
            if amount is None:
                continue
            if isinstance(amount, bool) or not isinstance(amount, int | float):
                raise WrongType(f"Limits: {name} must be a number, not {type(amount).__name__} ({amount!r:.80})")
            if not amount > 0:
                raise ConfigurationError(f"Limits: {name} must be more than 0, not {amount}")
        if (cost is None) is not (price is None):
            raise ConfigurationError("Limits: cost and price belong together: price says what a reply has cost")
        self.limits: dict[str, Any] = {**counts, "seconds": seconds, "cost": cost}
        if all(value is None for value in self.limits.values()):
            raise ConfigurationError(f"Limits: give at least one of {', '.join(self.limits)}")
        self._clock, self._price = clock, price

    def for_run(self, done: Sequence[Entry]) -> Hook:
        """Return a counter for one run, with what the run had used before."""
        return _Counter(self.limits, self._clock, self._price, done)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value}" for name, value in self.limits.items() if value is not None)
        return f"Limits({given})"


class _Counter(Hook):
    """What one run has used."""

    def __init__(
        self,
        limits: dict[str, Any],
        clock: Callable[[], float],
        price: Callable[[Reply], float | None] | None,
        done: Sequence[Entry],
    ) -> None:
        self.limits, self._clock, self._began, self._price = limits, clock, clock(), price
        self.used: dict[str, float] = dict.fromkeys(limits, 0)
        self._called: tuple[str, ...] = ()
        """The tools that the latest reply called."""
        for entry in done:
            if isinstance(entry.action, Ask):
                self.used["model_calls"] += 1
            elif isinstance(entry.action, Act):
                self.used["tool_calls"] += 1
            elif isinstance(entry.action, Execute):  # hooks see a program as a call, and each of its calls
                self.used["tool_calls"] += 1 + getattr(entry.outcome, "tool_calls", 0)
            if isinstance(entry.action, Ask) and isinstance(entry.outcome, Reply):
                self.post_llm_call(entry.action, entry.outcome)
            self._began -= entry.seconds

    def pre_llm_call(self, action: Ask) -> None:  # noqa: ARG002
        self._check(("model_calls", "tokens", "seconds", "cost"), ("the model",))
        self.used["model_calls"] += 1

    def post_llm_call(self, action: Ask, reply: Reply) -> None:
        self._called = tuple(call.name for call in reply.tool_calls)
        if self.limits["tokens"] is not None:
            self.used["tokens"] += _tokens(action, reply)
        if self._price is not None:
            spent = self._price(reply)
            self.used["cost"] += math.inf if spent is None else spent

    def pre_tool_call(self, action: Act) -> None:
        pending = self._called if action.tool in self._called else (action.tool,)
        self._check(("tool_calls", "tokens", "seconds", "cost"), pending)
        self.used["tool_calls"] += 1

    def post_execution(self, result: PatternResult) -> None:
        self.used["seconds"] = self._clock() - self._began
        for name in ("tokens", "seconds", "cost"):
            limit, used = self.limits[name], self.used[name]
            if limit is not None and used > limit and result.ok:
                took = "what it took is not known" if used == math.inf else f"it took {used:g}"
                result.warnings.append(f"the run went over its limit of {limit:g} {name}: {took}")

    def _check(self, names: tuple[str, ...], pending: tuple[str, ...]) -> None:
        self.used["seconds"] = self._clock() - self._began
        for name in names:
            limit, used = self.limits[name], self.used[name]
            if limit is not None and used >= limit:
                shown = "the cost of a call is not known" if used == math.inf else f"{used:g}"
                raise BudgetExceeded(
                    f"the limit {name}={limit:g} is used up ({shown}), with {', '.join(pending)} to be called next",
                    limit=name,
                    value=limit,
                    pending=pending,
                )


def _tokens(action: Ask, reply: Reply) -> int:
    if reply.usage is not None:
        return reply.usage.total_tokens
    texts = [str(message.get("content") or "") for message in action.messages]
    return sum(map(about_tokens, [*texts, reply.text]))
