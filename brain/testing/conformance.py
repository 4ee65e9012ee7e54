"""What must hold for every pattern, whatever it does: the conformance suite.

A pattern joins with one line, in a project's own tests too:

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_my_pattern(check):
        check(Enrolled(lambda provider: MyPattern(provider=provider), ["Final Answer: 4"]))

Each check raises ``AssertionError`` with what does not hold.
"""

from __future__ import annotations

import copy
import json
import random
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from brain.errors import Interrupt, ProviderError
from brain.patterns.base import BasePattern
from brain.policy import Act, Ask
from brain.runtime import ActionEnded, ActionStarted, Entry, Hook, Journal, RunEnded
from brain.runtime.chokepoints import PROGRAM
from brain.testing.scripted import ScriptedProvider
from brain.types import LLMProvider, PatternResult, Reply

__all__ = ["CHECKS", "Enrolled"]


@dataclass(frozen=True)
class Enrolled:
    """A pattern under test, and a conversation in which it does what it is for."""

    make: Callable[[LLMProvider], BasePattern]
    """Makes the pattern around a provider; called anew for each run."""
    replies: Iterable[Any]
    """What the model says in that conversation, as ``ScriptedProvider`` takes it."""
    task: str = "What is it?"
    most_calls: int = 200
    """More actions than the pattern's own limits allow in any run."""

    def run(self, hooks: Iterable[Hook] = (), **options: Any) -> PatternResult:
        """Run the conversation."""
        return self.make(self.model()).run(self.task, hooks=list(hooks), **options)

    def model(self) -> ScriptedProvider:
        """Return a provider that speaks the conversation from its beginning."""
        return ScriptedProvider(list(self.replies))


class _StopBefore(Hook):
    """Interrupts a run before its action number ``count``, and counts what is performed."""

    def __init__(self, count: int) -> None:
        self.count, self.performed, self.programs = count, 0, 0

    def _next(self) -> None:
        if self.performed == self.count:
            raise Interrupt
        self.performed += 1

    @property
    def calls(self) -> int:
        """Calls of models and tools: a program that is taken up starts anew, the calls it had made are not repeated."""
        return self.performed - self.programs

    def pre_llm_call(self, action: Ask) -> None:
        self._next()

    def pre_tool_call(self, action: Act) -> None:
        self._next()
        self.programs += action.tool == PROGRAM


def comes_to_its_end(case: Enrolled) -> None:
    """The conversation ends well, and all of its lines are spoken."""
    model = case.model()
    result = case.make(model).run(case.task)
    _equal(True, result.ok, f"ok (error: {result.error})")
    _equal(len(list(case.replies)), len(model.requests), "number of model calls")
    _equal("TERMINATED", result.state, "state")


def steps_are_numbered(case: Enrolled) -> None:
    """The steps are numbered from 0 without a gap."""
    result = case.run()
    _equal(list(range(len(result.steps))), [step.index for step in result.steps], "step numbers")


def ends_whatever_the_model_says(case: Enrolled) -> None:
    """A model that talks nonsense cannot keep the pattern going, nor make it raise."""
    fragments = [each for each in case.replies if isinstance(each, str)]
    fragments += [
        "",
        "```",
        "Action:",
        "Final Answer:",
        '{"route": "',
        "null",
        "\ud800",
        "ok",
        "[" * 100,
        "Observation: x",
    ]
    for seed in range(40):
        dice, asked = random.Random(seed), 0

        def nonsense(*_: Any, dice: random.Random = dice, seed: int = seed, **__: Any) -> Reply:
            nonlocal asked
            asked += 1
            assert asked <= case.most_calls, f"still asking after {case.most_calls} calls (seed {seed})"
            text = "\n".join(dice.choices(fragments, k=dice.randint(0, 4)))
            return Reply(text, finish_reason=dice.choice([None, None, "stop", "length"]))

        result = case.make(ScriptedProvider(nonsense)).run(case.task)
        assert result.ok or result.error, f"failed without saying why (seed {seed})"
        assert not result.ok or result.answer.strip(), f"an empty answer was a success (seed {seed})"


def a_journal_replays_to_the_same_result(case: Enrolled) -> None:
    """Replayed from its journal, a run comes to the same result with nothing performed."""
    whole = case.run()
    assert whole.journal is not None
    again = case.make(ScriptedProvider([])).resume(whole.journal)
    _same(whole, again)


def a_journal_survives_json(case: Enrolled) -> None:
    """Written as lines of JSON and read back, a journal replays to the same result."""
    whole = case.run()
    assert whole.journal is not None
    lines = list(whole.journal.to_lines())
    for line in lines:
        json.loads(line, parse_constant=lambda name: _equal("strict JSON", name, "constant"))
    read = Journal.from_lines(lines)
    _equal([entry.digest for entry in whole.journal], [entry.digest for entry in read], "digests")
    _equal([_outcome(entry) for entry in whole.journal], [_outcome(entry) for entry in read], "outcomes")
    _same(whole, case.make(ScriptedProvider([])).resume(read))


def interrupted_anywhere_it_resumes_to_the_same_result(case: Enrolled) -> None:
    """Interrupted before any of its actions and resumed, a run is the uninterrupted one; nothing is done twice."""
    counter = _StopBefore(-1)
    whole = case.run([counter])
    for count in range(counter.performed):
        model, before, after = case.model(), _StopBefore(count), _StopBefore(-1)
        pattern = case.make(model)
        half = pattern.run(case.task, hooks=[before])
        _equal((False, "INTERRUPTED"), (half.ok, half.state), f"state when interrupted before action {count}")
        assert half.journal is not None
        rest = pattern.resume(Journal.from_lines(half.journal.to_lines()), hooks=[after])
        _same(whole, rest, f"interrupted before action {count}: ")
        _equal(counter.calls, before.calls + after.calls, "number of calls made in all")


def a_provider_that_fails_ends_the_run_with_its_steps(case: Enrolled) -> None:
    """When model call k fails, the result says so, and holds the steps of the calls before."""
    replies = list(case.replies)
    for failing in range(len(replies)):
        cause = ProviderError("the server is on fire", kind="server", status=503)
        result = case.make(ScriptedProvider([*replies[:failing], cause, *replies[failing + 1 :]])).run(case.task)
        assert result.journal is not None
        failures = [entry for entry in result.journal if entry.outcome is cause]
        _equal(1, len(failures), f"failures in the journal when call {failing} fails")
        if result.ok:  # the pattern has a way around this call, by its algorithm
            continue
        assert "the server is on fire" in (result.error or ""), f"the error does not say what happened: {result.error}"
        _equal(cause, result.exception, "exception")
        before = result.journal[: result.journal.entries.index(failures[0])]  # others of its batch may come after
        _equal(failing, sum(isinstance(entry.outcome, Reply) for entry in before), "replies before it")


def runs_share_nothing(case: Enrolled) -> None:
    """One object, run twice and from several threads, gives each run its own result."""
    first, second = case.run(), case.run()
    _same(first, second)
    words = [f"word{number}" for number in range(4)]
    results: dict[str, PatternResult] = {}

    def work(word: str) -> None:
        results[word] = case.make(case.model()).run(word)

    threads = [threading.Thread(target=work, args=(word,)) for word in words]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for word in words:
        assert results[word].journal is not None
        sent = [str(entry.action.messages) for entry in results[word].journal or () if isinstance(entry.action, Ask)]
        others = [other for other in words if other != word and any(other in text for text in sent)]
        _equal([], others, f"words of other runs in the requests of {word}")


def leaves_itself_unchanged(case: Enrolled) -> None:
    """A run leaves nothing on the pattern object."""
    pattern = case.make(case.model())
    before = _attributes(pattern)
    pattern.run(case.task)
    _equal(before, _attributes(pattern), "attributes")


def hooks_see_every_call(case: Enrolled) -> None:
    """Each model and tool call passes the hooks; one that is refused is not performed."""
    counter = _StopBefore(-1)
    result = case.run([counter])
    assert result.journal is not None
    calls = [entry for entry in result.journal if isinstance(entry.action, Ask | Act)]
    _equal(len(calls), counter.performed, "calls seen by the hooks")


def a_stream_does_what_a_run_does(case: Enrolled) -> None:
    """Streamed, the same happens; each start has its end under one id, and the result comes last."""
    events = list(case.make(case.model()).stream(case.task))
    last = events[-1]
    assert isinstance(last, RunEnded), f"the last event is {last!r}"
    _same(case.run(), last.result)
    started = [event.id for event in events if isinstance(event, ActionStarted)]
    ended = [event.id for event in events if isinstance(event, ActionEnded)]
    _equal(started, sorted(ended), "ids of the actions that ended")


def a_round_trip_through_a_contract_changes_nothing(case: Enrolled) -> None:
    """Made a contract and followed as a policy again, the pattern makes the same run."""
    from brain.contract import as_contract, follow

    class Round(BasePattern):
        def __init__(self, pattern: BasePattern) -> None:
            self._pattern = pattern

        @property
        def name(self) -> str:
            return self._pattern.name

        def policy(self, task: str) -> Any:
            return follow(as_contract(self._pattern), {"task": task, "tools": list(self._pattern.tools)})

        def __getattr__(self, name: str) -> Any:
            return getattr(self._pattern, name)

        def _toolset(self) -> Any:
            return self._pattern._toolset()

        def _get_provider(self) -> Any:
            return self._pattern._get_provider()

    _same(case.run(), Round(case.make(case.model())).run(case.task))


CHECKS: list[Callable[[Enrolled], None]] = [
    comes_to_its_end,
    steps_are_numbered,
    ends_whatever_the_model_says,
    a_journal_replays_to_the_same_result,
    a_journal_survives_json,
    interrupted_anywhere_it_resumes_to_the_same_result,
    a_provider_that_fails_ends_the_run_with_its_steps,
    runs_share_nothing,
    leaves_itself_unchanged,
    hooks_see_every_call,
    a_stream_does_what_a_run_does,
    a_round_trip_through_a_contract_changes_nothing,
]
"""All checks, in the order to read them."""


def _attributes(pattern: BasePattern) -> dict[str, Any]:
    """Return what is on a pattern, and on the patterns it is made of."""
    return {
        key: _attributes(value) if isinstance(value, BasePattern) else _shape(copy.copy(value))
        for key, value in vars(pattern).items()
        if key != "_provider"
    }


def _shape(value: Any) -> Any:
    """Return what can be compared: an object that knows no equality of its own, as its attributes."""
    kind: Any = type(value)
    bare = kind.__eq__ is object.__eq__ and hasattr(value, "__dict__") and not callable(value)
    return (kind, dict(vars(value))) if bare else value


def _outcome(entry: Entry) -> str:
    return f"{type(entry.outcome).__name__} {entry.outcome}"


def _same(expected: PatternResult, got: PatternResult, where: str = "") -> None:
    """Two results are the same but for the time they took."""
    for name in ("answer", "ok", "error", "iterations", "usage", "state"):
        _equal(getattr(expected, name), getattr(got, name), f"{where}{name}")
    _equal([_timeless(step) for step in expected.steps], [_timeless(step) for step in got.steps], f"{where}steps")
    assert expected.journal is not None
    assert got.journal is not None
    _equal([entry.digest for entry in expected.journal], [entry.digest for entry in got.journal], f"{where}journal")


def _timeless(step: Any) -> Any:
    step = copy.copy(step)
    step.seconds = 0.0
    return step


def _equal(expected: Any, got: Any, what: str) -> None:
    assert expected == got, f"{what}:\n  expected {expected!r}\n  got      {got!r}"
