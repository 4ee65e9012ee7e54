"""The facts ledger: what a long tool loop has found out, instead of everything that was said.

A transcript of tool calls grows with every result, and models lose their way in it. The view that is sent
in its place has the question, the facts gathered so far, each under a number that it keeps, and the latest
exchange word for word. At its defaults the view stays bounded however long the loop runs.

What a tool returned stays untrusted: a fact is one line, it cannot begin another, and it never gets into a
system message.
"""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from brain.errors import ConfigurationError, whole_number
from brain.messages import Message, Transcript, canonical
from brain.tools.render import shortened
from brain.types import Observation

__all__ = ["ContextCompaction", "Fact", "Ledger", "about_tokens"]


def about_tokens(text: str) -> int:
    """Estimate the tokens of a text: four characters a token, the usual figure for English prose and JSON."""
    return (len(text) + 3) // 4


@dataclass(frozen=True)
class ContextCompaction:
    """How a long tool loop is shown to the model.

    Args:
        enabled: ``False`` sends the plain transcript, the baseline to measure against.
        after_tool_results: in automatic mode, from how many results on the ledger is shown instead.
        max_tokens: about how large the whole view may be; ``None`` lifts the bound. The question and the
            latest exchange are never cut for it.
        keep_result_chars: how much of an older result is kept word for word.
        history_messages: how many of the user's earlier messages are noted.
        history_chars: how much of each of those.
        count_tokens: counts the tokens of a text; by default four characters are one.
        reuse_results: whether a call made before is answered from its earlier result: no call, every call, or
            calls of the tools named (``*`` stands for anything). For lookups whose result cannot change.
        max_result_chars: the most of any result that the model is shown, the latest included.

    Raises:
        ConfigurationError: a number is below its least.
    """

    enabled: bool = True
    after_tool_results: int = 6
    max_tokens: int | None = 5_000
    keep_result_chars: int = 2_000
    history_messages: int = 6
    history_chars: int = 400
    count_tokens: Callable[[str], int] = about_tokens
    reuse_results: bool | Collection[str] = False
    max_result_chars: int | None = None

    def __post_init__(self) -> None:
        limits = (("after_tool_results", 0), ("max_tokens", 1), ("keep_result_chars", 0), ("history_messages", 0))
        for name, least in (*limits, ("history_chars", 1), ("max_result_chars", 1)):
            if getattr(self, name) is not None:
                whole_number("ContextCompaction", name, getattr(self, name), least)
        if isinstance(self.reuse_results, str):
            raise ConfigurationError("ContextCompaction: reuse_results takes names in a list, not one text")

    def reuses(self, tool: str) -> bool:
        """Whether repeated calls of a tool are answered from the earlier result."""
        if isinstance(self.reuse_results, bool):
            return self.reuse_results
        return any(fnmatch.fnmatchcase(tool, pattern) for pattern in self.reuse_results)


@dataclass(slots=True)
class Fact:
    """A call and what came of it last."""

    number: int
    """Its place in the ledger, kept for the whole run."""
    call: str
    """The call as text: ``look(k="a")``."""
    text: str
    """The whole result on one line."""
    ok: bool = True
    kept: int = 0
    """How many characters are shown of an older result; all of it when the call was made again."""


class Ledger:
    """The facts of one run, by call.

    Args:
        compaction: how they are shown.
    """

    def __init__(self, compaction: ContextCompaction) -> None:
        self.compaction = compaction
        self.facts: dict[bytes, Fact] = {}
        self.results = 0
        """How many results have come in, repeated ones included."""
        self.excess = 0
        """About how many tokens the latest view is over ``max_tokens``, as the latest exchange is never cut."""
        self._observations: dict[bytes, Observation] = {}

    def record(self, tool: str, arguments: Any, observation: Observation) -> None:
        """Take in what came of a call; a later result of the same call replaces the earlier one."""
        key = self.key(tool, arguments)
        self.results += 1
        text = _one_line(observation.text)
        known = self.facts.get(key)
        if known is None:
            kept = self.compaction.keep_result_chars
            self.facts[key] = Fact(len(self.facts) + 1, _call(tool, arguments), text, observation.ok, kept)
        else:  # the model wanted it again, so what was kept was not enough
            known.text, known.ok, known.kept = text, observation.ok, len(text)
        if observation.ok:
            self._observations[key] = observation

    def known(self, tool: str, arguments: Any) -> Observation | None:
        """Return the earlier result of a call, if there is one and the tool's results are reused."""
        if not self.compaction.reuses(tool):
            return None
        return self._observations.get(self.key(tool, arguments))

    def key(self, tool: str, arguments: Any) -> bytes:
        """Return what is equal for equal calls, whatever the order of their arguments."""
        return canonical([tool, arguments])

    def shown(self, observation: Observation) -> str:
        """Return what the model is shown of a result."""
        limit = self.compaction.max_result_chars
        return observation.text if limit is None else shortened(observation.text, limit)

    def view(self, transcript: Transcript, base: int, *, question: str = "", auto: bool = False) -> Transcript:
        """Return what to send instead of a transcript.

        Args:
            transcript: the whole conversation: system messages, earlier turns, the question, tool traffic.
            base: how many of its messages come before the tool traffic; the last of them asks for it.
            question: the question, where that last message may hold other instructions only.
            auto: whether to send it whole until there are ``after_tool_results`` results.
        """
        plan, self.excess = self.compaction, 0
        if not plan.enabled or not self.facts or (auto and self.results < plan.after_tool_results):
            return transcript
        start = len(transcript)
        while start > base and transcript[start - 1].get("role") != "assistant":
            start -= 1
        latest = transcript[max(start - 1, base) :]
        before = transcript[:base]
        systems = [message for message in before if message.get("role") == "system"]
        last = str(before[-1].get("content") or "")
        earlier = [message for message in before[:-1] if message.get("role") == "user"]
        if question not in last:
            last = f"{question}\n\n{last}"
            earlier = [message for message in earlier if not str(message.get("content")).startswith(question)]
        note, spent = self._history(earlier), sum(self._tokens(message) for message in (*systems, *latest))
        spent += plan.count_tokens(last) + plan.count_tokens(note)
        written = self._written(before)
        left = None if plan.max_tokens is None else plan.max_tokens - spent - plan.count_tokens(written)
        facts = self._facts(left)
        parts = [part for part in (note, last, written, facts) if part]
        if left is not None:
            self.excess = max(plan.count_tokens(facts) - left, 0)
        return Transcript([*systems, {"role": "user", "content": "\n\n".join(parts)}, *latest])

    def _tokens(self, message: Message) -> int:
        calls = message.get("tool_calls")
        return self.compaction.count_tokens(str(message.get("content") or "") + (json.dumps(calls) if calls else ""))

    def _history(self, earlier: Sequence[Message]) -> str:
        plan = self.compaction
        if not earlier:
            return ""
        newest = earlier[-plan.history_messages :] if plan.history_messages else []
        lines = [f"- {_shortened(_one_line(str(each.get('content'))), plan.history_chars)}" for each in newest]
        left_out = len(earlier) - len(newest)
        more = f" ({left_out} before them are left out)" if left_out else ""
        return "\n".join([f"The user's earlier messages{more}:", *lines])

    def _written(self, before: Sequence[Message]) -> str:
        """List what was written before this tool loop, by other stages and in earlier turns: the newest of it."""
        plan = self.compaction
        texts = [each for each in before if each.get("role") == "assistant" and not each.get("tool_calls")]
        said = [str(each["content"]) for each in texts if each.get("content")]
        newest = said[-plan.history_messages :] if plan.history_messages else []
        if not newest:
            return ""
        lines = [f"- {_shortened(_one_line(text), plan.keep_result_chars)}" for text in newest]
        return "\n".join(["Written so far:", *lines])

    def _facts(self, left: int | None) -> str:
        """List the facts in at most ``left`` tokens: all by name if half of that suffices, the newest in full."""
        plan = self.compaction
        facts = list(self.facts.values())
        listed: list[Fact] = []
        room = None if left is None else max(left // 2, 0)
        for fact in reversed(facts):
            cost = plan.count_tokens(self._reference(fact))
            if room is not None and cost > room and listed:
                break
            room = None if room is None else room - cost
            listed.append(fact)
        lines = {}
        room = None if left is None else left - sum(plan.count_tokens(self._reference(fact)) for fact in listed)
        for fact in listed:
            full, short = self._entry(fact), self._reference(fact)
            extra = plan.count_tokens(full) - plan.count_tokens(short)
            if room is None or extra <= room:
                lines[fact.number] = full
                room = None if room is None else room - max(extra, 0)
            else:
                lines[fact.number], room = short, 0  # older ones shrink too
        dropped = len(facts) - len(listed)
        head = "Facts gathered so far, one a line; the latest results follow below."
        if dropped:
            head += f" The {dropped} oldest calls are not listed."
        return "\n".join([head, *(lines[number] for number in sorted(lines))])

    def _entry(self, fact: Fact) -> str:
        if not fact.ok:
            return f"{fact.number}. {fact.call} failed: {_shortened(fact.text, fact.kept)}"
        if len(fact.text) <= fact.kept:
            return f"{fact.number}. {fact.call} -> {fact.text}"
        shown = f"the first {fact.kept} of {len(fact.text)} characters; make the call again to see all"
        return f"{fact.number}. {fact.call} -> {fact.text[: fact.kept]} [{shown}]"

    def _reference(self, fact: Fact) -> str:
        what = f"{len(fact.text)} characters, not shown" if fact.ok else "failed"
        return f"{fact.number}. {fact.call} -> [{what}]"


def _call(tool: str, arguments: Any) -> str:
    if isinstance(arguments, dict):
        given = ", ".join(
            f"{key}={_json(value)}" for key, value in sorted(arguments.items(), key=lambda each: str(each[0]))
        )
    else:
        given = "" if arguments is None else _json(arguments)
    return _shortened(_one_line(f"{tool}({given})"), 300)  # a call is named, not repeated


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def _one_line(text: str) -> str:
    """Fold a text onto one line; every character that could begin a new one becomes a space."""
    return " ".join(text.split())


def _shortened(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[: max(limit - 1, 0)]}…"
