"""A run: one policy executed by hand, without input or output."""

from __future__ import annotations

from typing import Any

import pytest

from brain.errors import BudgetExceeded, ConfigurationError, PolicyDenied, PolicyError, ReplayMismatch, TransitionError
from brain.messages import user
from brain.policy import Act, Ask, Batch, Finish, Note, Policy, act, ask, delegate, note, together
from brain.runtime import Run, State
from brain.types import Observation, Reply


def question(text: str = "q", phase: str = "") -> Policy[str]:
    reply = yield from ask([user(text)], phase=phase)
    return reply.text


def started(policy: Policy[Any]) -> Run:
    run = Run(policy, pattern="P", task="t")
    run.start()
    return run


def test_a_run_says_what_it_wants_and_is_told_what_came_of_it() -> None:
    """Ask, act, finish; the journal holds each outcome."""

    def policy() -> Policy[Finish]:
        reply = yield from ask([user("q")])
        seen = yield from act("look", reply.text, thought="so")
        return Finish(str(seen))

    run = started(policy())
    assert (run.state, run.current) == (State.REASONING, run.pending)
    assert isinstance(run.pending, Ask)
    run.send(Reply("there"))
    assert (run.state, run.pending) == (State.ACTING, Act("look", "there", thought="so"))
    run.send(Observation("a tree"))
    assert (run.state, run.pending, run.done) == (State.TERMINATED, Finish("a tree"), True)
    result = run.result()
    assert (result.answer, result.ok, result.iterations, len(run.journal)) == ("a tree", True, 1, 2)
    assert result.steps[0].observation == "a tree"


def test_an_error_is_thrown_in_where_the_action_was_wanted() -> None:
    """A policy may catch it; that is then part of its algorithm."""

    def policy() -> Policy[str]:
        try:
            return (yield from question())
        except BudgetExceeded as error:
            return f"ended by {error.limit}"

    run = started(policy())
    run.throw(BudgetExceeded("no more", limit="tokens"))
    assert run.pending == Finish("ended by tokens")


def test_an_uncaught_error_ends_the_run() -> None:
    """The run is not ok, and keeps the typed error and the steps so far."""

    def policy() -> Policy[str]:
        yield from question()
        yield from act("wipe", "all")
        return "done"

    run = started(policy())
    run.send(Reply("go"))
    denial = PolicyDenied("wiping is not allowed", contract_id="rule 1")
    run.throw(denial)
    result = run.result()
    assert (result.ok, result.error, result.exception) == (False, "P: wiping is not allowed", denial)
    assert result.steps[0].observation == "wiping is not allowed"


def test_notes_are_answered_at_once_and_kept() -> None:
    """A note needs nobody; an observation note fills the step under way."""

    def policy() -> Policy[str]:
        yield from question()
        yield from note("observation", "not like that", thought="hm")
        return (yield from question("again"))

    run = started(policy())
    run.send(Reply("junk"))
    assert isinstance(run.pending, Ask)
    run.send(Reply("fine"))
    assert [type(entry.action) for entry in run.journal] == [Ask, Note, Ask]
    assert [(step.observation, step.thought) for step in run.result().steps] == [("not like that", "hm"), ("", "")]


def test_a_batch_is_answered_in_order_and_heard_of_at_once() -> None:
    """Each of its actions has an entry of its own."""

    def policy() -> Policy[str]:
        texts = yield from together(question("a"), question("b"), question("c"))
        return " ".join(texts)

    run = started(policy())
    assert isinstance(run.pending, Batch)
    assert [each.messages[0]["content"] for each in run.waiting if isinstance(each, Ask)] == ["a", "b", "c"]
    for text in ("1", "2", "3"):
        run.send(Reply(text))
    assert run.pending == Finish("1 2 3")
    assert len(run.journal) == 3


def test_together_advances_policies_of_different_length() -> None:
    """One that has ended waits for the others; notes and nested batches pass through."""

    def long(name: str) -> Policy[str]:
        yield from note("remark", name)
        first = yield from question(f"{name}1")
        both = yield from together(question(f"{name}2"), question(f"{name}3"))
        return first + "".join(both)

    def policy() -> Policy[str]:
        return ",".join((yield from together(question("x"), long("y"), ready())))

    def ready() -> Policy[str]:
        return "r"
        yield

    run = started(policy())
    asked = []
    while not run.done:
        asked.append(run.current.messages[0]["content"])  # type: ignore[union-attr]
        run.send(Reply(asked[-1].upper()))
    assert asked == ["x", "y1", "y2", "y3"]
    assert run.pending == Finish("X,Y1Y2Y3,r")
    assert [entry.action.text for entry in run.journal if isinstance(entry.action, Note)] == ["y"]


def test_together_throws_an_error_into_the_policy_that_wanted_the_action() -> None:
    """The others go on; uncaught, it ends them all."""

    def careful() -> Policy[str]:
        try:
            return (yield from question("a"))
        except BudgetExceeded:
            return "spent"

    def both(first: Policy[str]) -> Policy[str]:
        return ",".join((yield from together(first, question("b"))))

    run = started(both(careful()))
    run.throw(BudgetExceeded("no"))
    run.send(Reply("B"))
    assert run.pending == Finish("spent,B")

    run = started(both(question("a")))
    run.throw(BudgetExceeded("no"))
    run.send(Reply("B"))
    assert run.result().error == "P: no"


def test_delegate_names_the_agent_of_every_action() -> None:
    """Nested names are joined; errors are thrown through."""

    def inner() -> Policy[str]:
        yield from note("remark", "n")
        try:
            yield from act("look", "x")
        except BudgetExceeded:
            pass
        yield from together(question("a"), delegate("deep", question("b")))
        return "done"

    run = started(delegate("outer", inner()))
    run.throw(BudgetExceeded("no"))
    run.send(Reply("1"))
    run.send(Reply("2"))
    assert [entry.action.agent for entry in run.journal] == ["outer", "outer", "outer", "outer/deep"]
    assert run.pending == Finish("done")


def test_a_journal_replays_without_the_actions_being_performed() -> None:
    """A fresh policy is brought to where the journal ends."""

    def policy() -> Policy[str]:
        first = yield from question("a")
        second = yield from question(first)
        return second

    run = started(policy())
    run.send(Reply("b"))
    again = started(policy())
    for entry in run.journal:
        again.replay(entry)
    assert again.pending == run.pending
    assert again.journal[0].digest == run.journal[0].digest


def test_a_journal_of_another_run_is_refused_with_both_actions() -> None:
    """The error shows what was recorded and what is asked."""
    run = started(question("first version"))
    run.send(Reply("x"))
    other = started(question("second version"))
    with pytest.raises(ReplayMismatch) as error:
        other.replay(run.journal[0])
    assert "first version" in error.value.recorded
    assert "second version" in error.value.asked
    assert error.value.recorded in str(error.value)
    assert error.value.asked in str(error.value)


def test_a_phase_belongs_to_the_identity_of_an_action() -> None:
    """The same messages in another phase are another action."""
    run = started(question(phase="plan"))
    run.send(Reply("x"))
    with pytest.raises(ReplayMismatch):
        started(question(phase="judge")).replay(run.journal[0])


def test_an_interrupted_run_can_be_taken_up_again() -> None:
    """Nothing is half done: the pending action is still pending."""
    run = started(question())
    run.interrupt()
    assert run.state is State.INTERRUPTED
    assert run.result().state == "INTERRUPTED"
    run.send(Reply("x"))
    assert run.pending == Finish("x")


@pytest.mark.parametrize(
    ("yielded", "told"),
    [
        (question(), "the generator question.*yield from"),
        (Finish("x"), "`return` it"),
        ("text", "not an action"),
        (None, "not an action"),
    ],
)
def test_what_is_no_action_is_the_policy_s_bug(yielded: Any, told: str) -> None:
    """The error names the policy and what it should have written."""

    def wrong() -> Any:
        yield yielded

    with pytest.raises(PolicyError, match=told) as error:
        started(wrong())
    assert "wrong" in str(error.value)


def test_a_policy_must_come_to_an_answer() -> None:
    """A forgotten return, or a failure without a reason, is a bug."""

    def forgetful() -> Any:
        yield from ask([user("q")])

    run = started(forgetful())
    with pytest.raises(PolicyError, match="returned None"):
        run.send(Reply("x"))

    def vague() -> Any:
        return Finish("", ok=False)
        yield

    with pytest.raises(PolicyError, match="without an error"):
        started(vague())


def test_a_mistake_of_the_programmer_is_raised() -> None:
    """A wrong configuration met inside a policy does not become a failed run."""

    def misconfigured() -> Any:
        raise ConfigurationError("no such stage")
        yield

    with pytest.raises(ConfigurationError, match="no such stage"):
        started(misconfigured())


def test_a_driver_that_does_the_impossible_is_told() -> None:
    """A run is started once and told nothing after its end."""
    run = started(question())
    with pytest.raises(TransitionError, match="started before"):
        run.start()
    run.send(Reply("x"))
    with pytest.raises(TransitionError, match="it has ended"):
        run.send(Reply("y"))
    with pytest.raises(TransitionError):
        run.interrupt()
    with pytest.raises(TransitionError, match=r"start\(\) it first"):
        Run(question()).send(Reply("x"))


def test_an_empty_batch_is_answered_with_nothing() -> None:
    """Running no policies together gives no results."""

    def policy() -> Policy[str]:
        return repr((yield from together()))

    assert started(policy()).pending == Finish("[]")
