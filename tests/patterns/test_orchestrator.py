"""The orchestrator: subtasks for named workers, side by side, and their results put together."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from brain.errors import ConfigurationError, ProviderError, WrongType
from brain.patterns import CodeAction, MultiAgentOrchestrator, ReActAgent, Worker
from brain.policy import Note
from brain.runtime.governors import Limits
from brain.testing import ScriptedProvider, fails, play
from brain.tools import Tool


def assign(**subtasks: str) -> str:
    return json.dumps({"assignments": [{"worker": name, "subtask": text} for name, text in subtasks.items()]})


def team(**options: Any) -> MultiAgentOrchestrator:
    workers = {"ann": Worker(ReActAgent(), "knows dates"), "bob": ReActAgent()}
    return MultiAgentOrchestrator(workers, **options)


def test_workers_see_their_subtask_and_the_planner_what_came_of_it() -> None:
    """The steps carry the workers' names; the answer is written from the results."""
    talk = play(
        team(),
        "Do it.",
        [assign(ann="when?", bob="where?"), "Final Answer: 1969", "Final Answer: moon", assign(), "There and then."],
    )
    contents = [each[-1]["content"] for each in talk.asked]
    assert "- ann: knows dates\n- bob: A model that thinks, acts and looks" in contents[0]
    assert contents[1:3] == ["when?", "where?"]
    assert "Results so far:\n- ann: when? -> 1969\n- bob: where? -> moon" in contents[3]
    assert "- bob: where? -> moon" in contents[4]
    assert [step.agent for step in talk.result.steps] == ["", "ann", "bob", "", ""]
    assert (talk.result.answer, talk.result.path) == ("There and then.", ["plan", "delegate", "plan", "answer"])


def test_a_failure_of_a_worker_is_shown_to_the_planner() -> None:
    """Whatever it was: out of steps, an empty reply, the provider; the others are not disturbed."""
    talk = play(
        team(),
        "t",
        [
            assign(ann="a", bob="b"),
            fails(ProviderError("on fire")),
            "Final Answer: 2",
            assign(ann="a again"),
            " ",
            assign(),
            "done",
        ],
    )
    assert talk.result.ok
    contents = [each[-1]["content"] for each in talk.asked]
    assert "- ann: a FAILED: on fire\n- bob: b -> 2" in contents[3]
    assert "- ann: a again FAILED: the model's reply was empty" in contents[5]
    failed = [each.action for each in talk.result.journal or () if getattr(each.action, "kind", "") == "worker failed"]
    assert [isinstance(each, Note) and each.text for each in failed] == [
        "ann: on fire",
        "ann: the model's reply was empty",
    ]


def test_who_does_not_exist_and_what_is_too_much_is_told() -> None:
    """An unknown worker fails with the known ones named; what exceeds a round is not lost silently."""
    more = json.dumps({"assignments": [{"worker": each, "subtask": each} for each in ("zoe", " bob ", "bob")]})
    talk = play(team(max_assignments=2), "t", [more, "Final Answer: 1", assign(), "done"])
    shown = talk.asked[2][-1]["content"]
    assert "- zoe: zoe FAILED: there is no worker 'zoe'; there are ann, bob" in shown
    assert "- bob: bob -> 1\n- NOT DONE, too many for one round: bob: bob" in shown


def test_two_subtasks_of_one_worker_are_kept_apart() -> None:
    """The second is done under a name of its own."""
    twice = json.dumps({"assignments": [{"worker": "bob", "subtask": each} for each in ("a", "b")]})
    talk = play(team(), "t", [twice, "Final Answer: 1", "Final Answer: 2", assign(), "done"])
    assert [step.agent for step in talk.result.steps] == ["", "bob", "bob 2", "", ""]


def test_rounds_are_bounded_and_the_answer_is_written() -> None:
    """From what there is."""
    model = ScriptedProvider([assign(ann="a"), "Final Answer: 1", "done"])
    assert team(provider=model, max_rounds=1).run("t").answer == "done"


def test_a_plan_that_cannot_be_read_ends_the_run_or_the_rounds() -> None:
    """Without any result there is nothing to answer from."""
    assert "No Delegation in two replies" in (play(team(), "t", ["?", "?"]).result.error or "")
    assert play(team(), "t", [assign(ann="a"), "Final Answer: 1", "?", "?", "done"]).result.answer == "done"


def test_workers_share_the_budget() -> None:
    """A worker's calls count for the run."""
    model = ScriptedProvider([assign(ann="a", bob="b"), "Final Answer: 1", "Final Answer: 2"])
    result = team(provider=model).run("t", hooks=[Limits(model_calls=3)])
    assert (result.ok, result.report.model_calls) == (False, 3)  # the fourth was refused, and so is not counted
    assert "model_calls=3 is used up" in (result.error or "")


def test_workers_are_under_way_at_the_same_time() -> None:
    """With ``max_workers``: each of two replies is given only once both have been asked for."""
    both = threading.Barrier(2, timeout=10)

    def model(messages: Any, **_: Any) -> str:
        text = str(messages[-1]["content"])
        if text in ("a", "b"):
            both.wait()
            return f"Final Answer: {text}"
        return "done" if "Answer the task" in text else assign() if "-> a" in text else assign(ann="a", bob="b")

    result = team(provider=ScriptedProvider(model)).run("t", max_workers=2)
    assert result.answer == "done"


def test_tools_of_workers_are_tools_of_the_run_under_one_name_each() -> None:
    """The same tool may be in two workers' hands; two of one name may not."""

    def look(text: str) -> str:
        return f"saw {text}"

    agent = MultiAgentOrchestrator({"ann": ReActAgent([look]), "bob": ReActAgent({"look": look, "other": str})})
    assert list(agent.tools) == ["look", "other"]
    with pytest.raises(
        ConfigurationError, match=r"worker 'bob' has a tool 'look' that is not the one another part has"
    ):
        MultiAgentOrchestrator({"ann": ReActAgent([look]), "bob": ReActAgent({"look": str})})
    limited = Tool("look", look, timeout=1.0)
    with pytest.raises(ConfigurationError, match="a tool 'look'"):
        MultiAgentOrchestrator({"ann": ReActAgent([look]), "bob": ReActAgent([limited])})


def test_the_executor_of_a_worker_is_that_of_the_run() -> None:
    """Two different ones are refused."""
    one, two = object(), object()
    ann, bob = CodeAction(), CodeAction()
    ann._sandbox = bob._sandbox = one
    assert MultiAgentOrchestrator({"ann": ann, "bob": bob})._sandbox is one
    bob._sandbox = two
    with pytest.raises(ConfigurationError, match="different sandboxes"):
        MultiAgentOrchestrator({"ann": ann, "bob": bob})


def test_what_cannot_be_used_is_refused() -> None:
    """At once."""
    with pytest.raises(WrongType, match="workers must be a mapping, not list"):
        MultiAgentOrchestrator([ReActAgent()])  # type: ignore[arg-type]
    with pytest.raises(WrongType, match="a Worker or a pattern, not str"):
        MultiAgentOrchestrator({"a": "b"})  # type: ignore[dict-item]
    with pytest.raises(ConfigurationError, match="at least one worker"):
        MultiAgentOrchestrator({})
    with pytest.raises(ConfigurationError, match="give them to yours"):
        MultiAgentOrchestrator({"a": ReActAgent()}, tools=[str])
