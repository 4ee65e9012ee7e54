"""The kernel: it performs, asks the hooks, records, and tells."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from brain.errors import BrainError, ConfigurationError, HookError, Interrupt, PolicyDenied, ProviderError
from brain.messages import user
from brain.patterns import Autonomous, ReActAgent
from brain.policy import Act, Ask, Policy, act, ask, note, together
from brain.runtime import (
    ActionEnded,
    ActionStarted,
    Hook,
    ModelChunk,
    Noted,
    RunEnded,
    RunStarted,
    Runtime,
    StepEnded,
)
from brain.testing import ScriptedProvider
from brain.tools import Toolset
from brain.types import Observation, PatternResult, Reply

LOOK = "Thought: t\nAction: look\nAction Input: x"


def looking(
    *hooks: Hook, replies: Any = (LOOK, "Final Answer: done"), tool: Any = str.upper
) -> tuple[PatternResult, list[str]]:
    """Run ReAct with a tool that records what it was given."""
    given: list[str] = []

    def look(text: str) -> Any:
        given.append(text)
        return tool(text)

    return ReActAgent({"look": look}, ScriptedProvider(list(replies))).run("t", hooks=hooks), given


def test_events_come_in_the_order_in_which_things_happen() -> None:
    """Run, action pairs under one id, notes, steps, and the result last."""
    agent = ReActAgent({"look": str.upper}, ScriptedProvider([LOOK, "Action:", "Final Answer: done"]))
    events = list(agent.stream("t"))
    assert [type(event).__name__ for event in events] == [
        *["RunStarted", "ActionStarted", "ActionEnded", "ActionStarted", "ActionEnded", "StepEnded"],
        *["ActionStarted", "ActionEnded", "Noted", "StepEnded"],
        *["ActionStarted", "ActionEnded", "StepEnded", "RunEnded"],
    ]
    assert [event.id for event in events if isinstance(event, ActionStarted | ActionEnded)] == [0, 0, 1, 1, 2, 2, 4, 4]
    assert events[0] == RunStarted("ReActAgent", "t", 0)
    assert [event.step.index for event in events if isinstance(event, StepEnded)] == [0, 1, 2]
    assert isinstance(events[-1], RunEnded)
    assert events[-1].result.answer == "done"
    assert [event.entry.action.kind for event in events if isinstance(event, Noted)] == ["observation"]  # type: ignore[union-attr]


def test_steps_can_be_watched_one_by_one() -> None:
    """Leaving the loop ends the run: nothing further is asked."""
    model = ScriptedProvider([LOOK, LOOK, "Final Answer: done"])
    for step in ReActAgent({"look": str.upper}, model).iter("t"):
        assert step.observation == "X"
        break
    assert len(model.requests) == 1


def test_a_listener_that_raises_is_dropped_with_a_warning() -> None:
    """Who listens cannot change what happens."""

    def broken(_: Any) -> None:
        raise RuntimeError("no space left")

    agent = ReActAgent(provider=ScriptedProvider(["Final Answer: x"]))
    with pytest.warns(RuntimeWarning, match="on_event raised RuntimeError: no space left"):
        assert agent.run("t", on_event=broken).ok


def test_hooks_are_called_at_the_chokepoints_in_order() -> None:
    """Pre-hooks in order, the others in reverse, so that the first stands outermost."""
    heard: list[str] = []

    class Heard(Hook):
        def __init__(self, name: str) -> None:
            self.name = name

        def pre_execution(self, pattern: str, task: str) -> None:
            heard.append(f"{self.name} begin {pattern} {task}")

        def pre_llm_call(self, action: Ask) -> None:
            heard.append(f"{self.name} ask")

        def post_llm_call(self, action: Ask, reply: Reply) -> None:
            heard.append(f"{self.name} reply")

        def pre_tool_call(self, action: Act) -> None:
            heard.append(f"{self.name} {action.tool}")

        def post_tool_call(self, action: Act, observation: Observation) -> None:
            heard.append(f"{self.name} {observation}")

        def post_execution(self, result: PatternResult) -> None:
            heard.append(f"{self.name} end {result.answer}")

    looking(Heard("a"), Heard("b"))
    assert heard == [
        *["a begin ReActAgent t", "b begin ReActAgent t", "a ask", "b ask", "b reply", "a reply"],
        *["a look", "b look", "b X", "a X", "a ask", "b ask", "b reply", "a reply", "b end done", "a end done"],
    ]


def test_a_hook_may_replace_an_action_and_an_outcome() -> None:
    """The journal keeps what the policy wanted and what was done instead."""

    class Other(Hook):
        def pre_tool_call(self, action: Act) -> Act:
            return Act(action.tool, "y")

        def post_tool_call(self, action: Act, observation: Observation) -> Observation:
            return Observation(f"{observation}!")

    result, given = looking(Other())
    assert given == ["y"]
    assert result.steps[0].observation == "Y!"
    assert result.journal is not None
    assert (result.journal[1].action.input, result.journal[1].performed.input) == ("x", "y")  # type: ignore[union-attr]


def test_a_hook_may_answer_instead() -> None:
    """An outcome from a pre-hook makes the call needless."""

    class Answers(Hook):
        def pre_tool_call(self, action: Act) -> Observation:
            return Observation("from memory")

    result, given = looking(Answers())
    assert (given, result.steps[0].observation) == ([], "from memory")


def test_a_refused_action_is_not_performed_and_reaches_the_policy_as_an_error() -> None:
    """The denial says what was refused; all hooks are told of it."""
    told = []

    class Refuses(Hook):
        def pre_tool_call(self, action: Act) -> None:
            raise PolicyDenied("no looking", contract_id="rule 7")

        def governance_denied(self, action: Any, denial: Exception) -> None:
            told.append((action.tool, str(denial)))

    result, given = looking(Refuses())
    assert (given, result.ok, told) == ([], False, [("look", "no looking")])
    assert isinstance(result.exception, PolicyDenied)
    assert result.exception.denied_action.tool == "look"
    assert result.error == "ReActAgent: no looking"


@pytest.mark.parametrize("point", ["pre_execution", "pre_llm_call", "post_llm_call", "pre_tool_call", "post_tool_call"])
def test_a_hook_that_crashes_stops_the_run_and_is_named(point: str) -> None:
    """A guard that has fallen over guards nothing; nothing goes on without it."""

    def crash(self: Hook, *_: Any) -> None:
        raise KeyError("lost")

    crash.__name__ = point
    guard = type("Guard", (Hook,), {point: crash})()
    result, given = looking(guard)
    assert (result.ok, type(result.exception)) == (False, HookError)
    assert f"hook Guard.{point} raised KeyError" in (result.error or "")
    assert isinstance(result.exception.__cause__, KeyError)  # type: ignore[union-attr]
    assert given == (["x"] if point == "post_tool_call" else [])


def test_a_hook_that_crashes_at_the_end_fails_the_run() -> None:
    """What was to be kept, or checked, was not."""

    class Keeps(Hook):
        def post_execution(self, result: PatternResult) -> None:
            raise OSError("disk full")

    result, _ = looking(Keeps())
    assert (result.ok, result.answer) == (False, "done")
    assert "Keeps.post_execution raised OSError: disk full" in (result.error or "")


def test_a_hook_that_returns_nonsense_stops_the_run_and_is_named() -> None:
    """The error says what was expected."""

    class Confused(Hook):
        def pre_tool_call(self, action: Act) -> Any:
            return True

    result, given = looking(Confused())
    assert given == []
    assert "Confused.pre_tool_call returned bool; expected None, Act or Observation" in (result.error or "")
    assert isinstance(result.exception.__cause__, TypeError)  # type: ignore[union-attr]


def test_a_failed_tool_call_goes_to_tool_call_error() -> None:
    """That hook may put another observation in its place."""

    class Softens(Hook):
        def post_tool_call(self, action: Act, observation: Observation) -> None:
            raise AssertionError("not for failures")

        def tool_call_error(self, action: Act, observation: Observation) -> Observation:
            return Observation(f"{observation.kind}; try again later", ok=False)

    result, _ = looking(Softens(), tool=lambda text: 1 / 0)
    assert result.steps[0].observation == "raised; try again later"


def test_interrupt_stops_before_the_action() -> None:
    """The result says so and holds the journal; the policy is not asked about it."""

    class Stops(Hook):
        def pre_tool_call(self, action: Act) -> None:
            raise Interrupt("lunch")

    result, given = looking(Stops())
    assert (given, result.ok, result.state, result.error) == ([], False, "INTERRUPTED", "ReActAgent: lunch")
    assert result.journal is not None
    assert len(result.journal) == 1


def test_a_provider_s_exception_becomes_a_provider_error_with_its_cause() -> None:
    """Errors of this library pass as they are."""
    cause = ZeroDivisionError("x")
    for raised, kind in ((cause, "unknown"), (ProviderError("busy", kind="rate_limit", status=429), "rate_limit")):
        result = ReActAgent(provider=ScriptedProvider([raised])).run("t")
        assert isinstance(result.exception, ProviderError)
        assert result.exception.kind == kind
    assert ReActAgent(provider=ScriptedProvider([cause])).run("t").exception.__cause__ is cause  # type: ignore[union-attr]


def test_a_provider_that_returns_nonsense_fails_the_run() -> None:
    """A reply is a Reply, a text, or an object whose text is a text."""

    class Odd:
        def __init__(self, said: Any) -> None:
            self.said = said

        def generate(self, messages: Any, tools: Any = (), tool_choice: Any = "none") -> Any:
            return self.said

    assert ReActAgent(provider=Odd("Final Answer: x")).run("t").answer == "x"
    for said in (None, 3, type("Said", (), {"text": 3})()):
        result = ReActAgent(provider=Odd(said)).run("t")
        assert (result.ok, result.exception.kind) == (False, "malformed")  # type: ignore[union-attr]


def test_a_provider_gets_a_list_of_its_own_and_what_the_page_says() -> None:
    """``generate(messages, tools=[], tool_choice="none")``; what it keeps is not changed later."""
    seen: list[Any] = []

    class Keeps:
        def generate(self, messages: Any, tools: Any, tool_choice: Any) -> Any:
            seen.append((messages, tools, tool_choice))
            return Reply(LOOK if len(seen) == 1 else "Final Answer: x")

    ReActAgent({"look": str}, Keeps()).run("t")
    assert [type(messages) for messages, *_ in seen] == [list, list]
    assert [len(messages) for messages, *_ in seen] == [2, 4]
    assert seen[0][1:] == ([], "none")


def test_batches_on_threads_run_side_by_side_and_record_in_order() -> None:
    """Eight calls that wait for each other end; the journal is that of one worker."""
    barrier = threading.Barrier(8, timeout=10)

    def meet(text: str) -> str:
        barrier.wait()
        return text.upper()

    def one(letter: str) -> Policy[str]:
        return str((yield from act("meet", letter)))

    def policy() -> Policy[str]:
        yield from note("begin")
        return "".join((yield from together(*(one(letter) for letter in "abcdefgh"))))

    many = Runtime(ScriptedProvider([]), Toolset({"meet": meet}), max_workers=8).run(policy())
    alone = Runtime(ScriptedProvider([]), Toolset({"meet": str.upper})).run(policy())
    assert many.answer == alone.answer == "ABCDEFGH"
    assert many.journal is not None
    assert alone.journal is not None
    assert [entry.digest for entry in many.journal] == [entry.digest for entry in alone.journal]


def test_in_a_batch_on_threads_hooks_still_see_each_call_and_may_refuse() -> None:
    """One refused call fails its own policy; the others are performed."""

    class NoB(Hook):
        def pre_tool_call(self, action: Act) -> None:
            if action.input == "b":
                raise PolicyDenied("not b")

    def one(letter: str) -> Policy[str]:
        try:
            return str((yield from act("up", letter)))
        except BrainError as error:
            return str(error)

    def policy() -> Policy[str]:
        return ",".join((yield from together(*(one(letter) for letter in "abc"))))

    for workers in (1, 3):
        result = Runtime(ScriptedProvider([]), Toolset({"up": str.upper}), [NoB()], max_workers=workers).run(policy())
        assert result.answer == "A,not b,C"


class _Streams:
    """A model that writes its reply word by word, and keeps count of how it was asked."""

    def __init__(self, *replies: str) -> None:
        self.replies, self.asked = list(replies), [0, 0]

    def generate(self, messages: Any, tools: Any = (), tool_choice: Any = "none") -> Reply:
        self.asked[0] += 1
        return Reply(self.replies.pop(0))

    def stream(self, messages: Any, tools: Any = (), tool_choice: Any = "none") -> Any:
        self.asked[1] += 1
        reply = self.replies.pop(0)
        for word in reply.split(" "):
            if word == "BREAKS":
                raise ConnectionError("gone")
            yield word
        if reply != "no end":
            yield Reply(reply)


def test_a_reply_is_seen_being_written_where_the_provider_streams() -> None:
    """Between the start and the end of its action; run() asks for it whole, and as often."""
    model = _Streams("Action: look", "Final Answer: two words")
    events = list(ReActAgent({"look": str.upper}, model).stream("t"))
    chunks = [(event.id, event.text) for event in events if isinstance(event, ModelChunk)]
    assert chunks == [(0, "Action:"), (0, "look"), (2, "Final"), (2, "Answer:"), (2, "two"), (2, "words")]
    assert isinstance(events[-1], RunEnded)
    assert events[-1].result.answer == "two words"
    assert model.asked == [0, 2]
    whole = _Streams("Action: look", "Final Answer: two words")
    assert ReActAgent({"look": str.upper}, whole).run("t").answer == "two words"
    assert whole.asked == [2, 0]


def test_a_stream_that_breaks_or_never_ends_is_a_failed_call() -> None:
    """What was written until then is no reply."""
    for said, told in (("some BREAKS", "ConnectionError: gone"), ("no end", "ended without a Reply")):
        *_, last = ReActAgent(provider=_Streams(said)).stream("t")
        assert isinstance(last, RunEnded)
        assert (last.result.ok, told in (last.result.error or "")) == (False, True)


def test_a_choice_of_the_next_step_is_not_streamed() -> None:
    """Check 73: the steps' texts are, the routing is not."""
    model = _Streams('{"next": "synthesize"}', "the answer")
    events = list(Autonomous(provider=model).stream("t"))
    assert "".join(event.text for event in events if isinstance(event, ModelChunk)) == "theanswer"
    assert model.asked == [1, 1]


def test_a_bug_in_a_policy_is_raised() -> None:
    """It is nobody's failed run; what was done is on the exception."""

    def policy() -> Policy[str]:
        yield from ask([user("q")])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as error:
        Runtime(ScriptedProvider(["x"])).run(policy())
    assert len(error.value.partial_result.steps) == 1  # type: ignore[attr-defined]


def test_a_journal_of_another_pattern_is_refused() -> None:
    """Resuming checks the name in the header first."""
    result, _ = looking()

    class Other(ReActAgent):
        pass

    with pytest.raises(ConfigurationError, match="a run of ReActAgent"):
        Other().resume(result.journal)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="journal must be a Journal or the path of one, not int"):
        ReActAgent().resume(3)  # type: ignore[arg-type]
