"""The native tool loop: checks 1 to 9 of the catalogue, and what a server would refuse."""

from __future__ import annotations

import json
import re
import threading
from typing import Any

import pytest

from brain.errors import BudgetExceeded, ConfigurationError, PolicyDenied
from brain.messages import assistant, system, tool_result, user
from brain.normalise import legal
from brain.policy import Act, Ask, Batch, Finish, Policy
from brain.runtime import Hook, Runtime
from brain.testing import ScriptedProvider, calls, says
from brain.toolloop import ToolTalk, tool_loop
from brain.tools import Tool, Toolset
from brain.types import Observation, PatternResult, Reply, ToolCall


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def boom() -> str:
    """Fail."""
    raise ValueError("kaput")


TOOLS = Toolset([add, boom], native=True)


def answered(tools: Toolset, **options: Any) -> Policy[Finish]:
    talk = yield from tool_loop([user("q")], tools, phase="reason", **options)
    if talk.problem:
        return Finish(talk.reply.text, ok=False, error=talk.problem)
    return Finish(talk.reply.text)


def run(model: ScriptedProvider, tools: Toolset = TOOLS, *, max_workers: int = 1, **options: Any) -> PatternResult:
    options = {"max_rounds": 5, **options}
    return Runtime(model, tools, max_workers=max_workers).run(answered(tools, **options), pattern="react")


def drive(policy: Policy[ToolTalk], *outcomes: Any) -> tuple[list[Any], ToolTalk]:
    """Send outcomes by hand; return what the policy wanted, and what it came to."""
    wanted = [next(policy)]
    for outcome in outcomes:
        try:
            wanted.append(policy.send(outcome))
        except StopIteration as stop:
            return wanted, stop.value
    raise AssertionError(f"still going on, wants {wanted[-1]}")


def results(model: ScriptedProvider, request: int) -> list[tuple[str, str]]:
    """Return id and text of the tool results in a request, in order."""
    sent = model.requests[request].messages
    return [(each["tool_call_id"], each["content"]) for each in sent if each["role"] == "tool"]


def test_01_a_tool_is_called_and_its_result_answered():
    """The second request holds the result, bound to its call."""
    model = ScriptedProvider([says("", ToolCall("add", {"a": 1, "b": 2}, "x1")), "3"])
    result = run(model)
    assert (result.ok, result.answer) == (True, "3")
    assert len(model.requests) == 2
    assert [spec["function"]["name"] for spec in model.requests[0].tools] == ["add", "boom"]
    assert model.requests[1].messages[1]["tool_calls"][0]["id"] == "x1"
    assert results(model, 1) == [("x1", "3")]
    assert [step.action for step in result.steps] == ["add", None]


def test_02_each_call_of_a_turn_gets_its_result():
    """Good and bad calls side by side: one result each, in order, and the run goes on."""
    ran = []

    def counted(a: int, b: int) -> int:
        ran.append((a, b))
        return a + b

    tools = Toolset([Tool("add", counted), boom])
    turn = [
        ToolCall("add", {"a": 1, "b": 2}, "c1"),
        ToolCall("addd", {}, "c2"),
        ToolCall("boom", {}, "c3"),
        ToolCall("add", {"a": "zzz", "b": 2}, "c4"),
        ToolCall("add", "{a:1", "c5"),
    ]
    model = ScriptedProvider([says("", *turn), "done"])
    assert run(model, tools).answer == "done"
    assert ran == [(1, 2)]
    told = results(model, 1)
    assert [identity for identity, _ in told] == ["c1", "c2", "c3", "c4", "c5"]
    texts = [text for _, text in told]
    assert texts[0] == "3"
    assert "add" in texts[1]
    assert "boom" in texts[1]
    assert "Did you mean 'add'" in texts[1]
    assert "ValueError" in texts[2]
    assert "kaput" in texts[2]
    assert "a" in texts[3]
    assert "zzz" in texts[3]
    assert "character 1" in texts[4]
    assert re.search(r"a\W.*a whole number.*b\W.*a whole number", texts[4])


def test_03_the_limit_is_an_error_that_says_what_was_pending():
    """Two requests, no more; the second one's calls are not performed, and there is no answer."""
    model = ScriptedProvider([says("", calls("add", a=1, b=1)) for _ in range(3)])
    result = run(model, max_rounds=2)
    assert len(model.requests) == 2
    assert (result.ok, result.answer) == (False, "")
    error = result.exception
    assert isinstance(error, BudgetExceeded)
    assert (error.limit, error.value, error.pending) == ("max_node_iterations", 2, ("add",))
    assert [step.action for step in result.steps] == ["add", None]


def test_04_a_failing_provider_is_the_cause_and_the_stage_is_named():
    """What the provider raised is kept; the sentence names pattern and stage."""
    failure = RuntimeError("the line is dead")
    result = run(ScriptedProvider([failure]))
    assert not result.ok
    assert result.exception is not None
    assert result.exception.__cause__ is failure
    assert result.error == "react, model call 1 (reason): RuntimeError: the line is dead"


@pytest.mark.parametrize(
    ("last", "says_why"),
    [(says(""), "empty answer"), (says(" \n"), "empty answer"), (says("The", finish_reason="length"), "cut off")],
)
def test_05_an_empty_or_cut_off_reply_is_no_success(last, says_why):
    """A last reply that answers nothing is flagged."""
    result = run(ScriptedProvider([says("", calls("add", a=1, b=1)), last]))
    assert not result.ok
    assert says_why in (result.error or "")


def test_06_text_beside_a_call_stands_before_its_result():
    """What the model said with its call stays in the conversation, and is the thought of the step."""
    model = ScriptedProvider([says("I will", calls("add", a=1, b=2)), "3"])
    result = run(model)
    spoken = [(each["role"], each["content"]) for each in model.requests[1].messages]
    assert spoken == [("user", "q"), ("assistant", "I will"), ("tool", "3")]
    assert result.steps[0].thought == "I will"


def test_07_calls_that_share_an_id_are_told_apart():
    """Ids are rewritten in the call and in its result, within a turn, across turns, and where there are none."""
    turn = [ToolCall("add", {"a": 1, "b": 1}, "same"), ToolCall("add", {"a": 2, "b": 2}, "same")]
    again = [ToolCall("add", {"a": 3, "b": 3}, "same"), ToolCall("add", {"a": 4, "b": 4})]
    model = ScriptedProvider([says("", *turn), says("", *again), "ok"])
    assert run(model).ok
    told = results(model, 2)
    assert [text for _, text in told] == ["2", "4", "6", "8"]
    assert told[0][0] == "same"
    assert len({identity for identity, _ in told}) == 4
    made = [call for each in model.requests[2].messages for call in each.get("tool_calls", ())]
    assert [call["id"] for call in made] == [identity for identity, _ in told]
    assert [json.loads(call["function"]["arguments"])["a"] for call in made] == [1, 2, 3, 4]


def test_07_ids_of_earlier_turns_are_taken():
    """A conversation that is handed in keeps its ids to itself."""
    before = [user("q"), assistant("", [{"id": "call_1", "function": {}}]), tool_result("call_1", "2"), user("more")]
    wanted, _ = drive(
        tool_loop(before, TOOLS, max_rounds=2),
        Reply("", (ToolCall("add", {"a": 1, "b": 1}, "call_1"),)),
        Observation("2"),
        Reply("done"),
    )
    assert wanted[1].id not in ("", "call_1")


def test_08_a_tool_that_hangs_is_given_up():
    """A result that speaks of the timeout, and the run goes on."""
    let_go = threading.Event()

    def hang() -> bool:
        return let_go.wait(10)

    model = ScriptedProvider([says("", calls("hang")), "too slow"])
    result = run(model, Toolset([Tool("hang", hang, timeout=0.05)]))
    let_go.set()
    assert result.answer == "too slow"
    assert "time" in results(model, 1)[0][1]


def test_09_results_come_in_the_order_of_the_calls():
    """The first call ends after the second, and is answered first."""
    second_is_done = threading.Event()

    def slow() -> str:
        return "slow" if second_is_done.wait(10) else "never"

    def quick() -> str:
        second_is_done.set()
        return "quick"

    model = ScriptedProvider([says("", ToolCall("slow", {}, "s"), ToolCall("quick", {}, "f")), "ok"])
    assert run(model, Toolset([slow, quick]), max_workers=2).ok
    assert results(model, 1) == [("s", "slow"), ("f", "quick")]


def test_11_the_limit_of_six_is_six_requests():
    """An endless caller is asked as often as the limit says."""
    model = ScriptedProvider([says("", calls("add", a=1, b=1)) for _ in range(7)])
    result = run(model, max_rounds=6)
    assert len(model.requests) == 6
    assert isinstance(result.exception, BudgetExceeded)


def test_64_the_last_request_withholds_the_tools():
    """With ``answer`` the last calls are performed, and one more request without tools gets the answer."""
    model = ScriptedProvider([says("", calls("add", a=1, b=1)), says("", calls("add", a=2, b=2)), "six"])
    result = run(model, max_rounds=2, when_spent="answer")
    assert (result.ok, result.answer) == (True, "six")
    assert len(model.requests[1].tools) == 2
    assert model.requests[2].tools == ()
    assert model.requests[2].tool_choice == "none"
    assert [text for _, text in results(model, 2)] == ["2", "4"]


def test_64_a_call_where_tools_are_withheld_is_no_answer():
    """A model that calls all the same has not answered."""
    model = ScriptedProvider([says("", calls("add", a=1, b=1)), says("I will", calls("add", a=2, b=2))])
    result = run(model, max_rounds=1, when_spent="answer")
    assert not result.ok
    assert "add" in (result.error or "")


def test_a_spent_loop_can_hand_over_what_it_has():
    """With ``return`` the last calls are performed, and the caller goes on with the conversation."""
    reply = Reply("", (ToolCall("add", {"a": 1, "b": 1}, "x"),))
    wanted, talk = drive(tool_loop([user("q")], TOOLS, max_rounds=1, when_spent="return"), reply, Observation("2"))
    assert [type(each) for each in wanted] == [Ask, Act]
    assert (talk.spent, talk.rounds) == (True, 1)
    assert talk.messages[-1] == tool_result("x", "2")
    assert talk.problem


def test_several_calls_are_one_batch():
    """Calls of one turn do not depend on each other; whoever drives may perform them at once."""
    reply = Reply("hm", (ToolCall("add", {"a": 1, "b": 1}, "x"), ToolCall("add", "{", "y")))
    wanted, talk = drive(
        tool_loop([system("s"), user("q")], TOOLS, max_rounds=2, phase="p"),
        reply,
        (Observation("2"), Observation("bad", ok=False)),
        Reply("done"),
    )
    assert wanted[1] == Batch((Act("add", {"a": 1, "b": 1}, "hm", "x", "p"), Act("add", "{", "", "y", "p")))
    assert talk.reply == Reply("done")
    assert [each["role"] for each in talk.messages] == ["system", "user", "assistant", "tool", "tool"]


def test_a_refusal_is_for_the_caller():
    """A call that a hook refuses is thrown in at the loop, alone or among others."""

    class Refuse(Hook):
        def pre_tool_call(self, action: Act) -> None:
            if action.tool == "boom":
                raise PolicyDenied("not that")

    for turn in ([calls("boom")], [calls("add", a=1, b=1), calls("boom")]):
        result = Runtime(ScriptedProvider([says("", *turn)]), TOOLS, [Refuse()]).run(answered(TOOLS, max_rounds=3))
        assert isinstance(result.exception, PolicyDenied)


def test_what_goes_out_is_legal_whatever_the_model_calls():
    """Arguments that are no JSON stay readable in the history as JSON; every request is a legal list."""
    odd = [
        ToolCall("add", "{a:1"),
        ToolCall("add", "[1]", "\n"),
        ToolCall("no such!", {}, "x"),
        ToolCall("", '{"a": 1}'),
    ]
    model = ScriptedProvider([says("", *odd), says(" ", calls("boom")), "ok"])
    run(model)
    for request in model.requests:
        sent = list(request.messages)
        assert [{**each, "content": each["content"] or None} for each in sent] == legal(sent)
    made = [call["function"] for call in model.requests[1].messages[1]["tool_calls"]]
    assert [each["name"] for each in made] == ["add", "add", "no_such_", "unnamed"]
    arguments = [json.loads(each["arguments"]) for each in made]
    assert arguments == [{"unreadable": "{a:1"}, {"unreadable": "[1]"}, {}, {"a": 1}]


def test_a_view_is_what_the_model_is_sent():
    """The conversation grows in full; the model sees what the view makes of it."""
    wanted, talk = drive(
        tool_loop([user("q")], TOOLS, max_rounds=3, view=lambda talk: [user(f"{len(talk)} so far")]),
        Reply("", (ToolCall("boom", {}, "x"),)),
        Observation("no", ok=False),
        Reply("done"),
    )
    assert [each["content"] for each in wanted[0].messages] == ["1 so far"]
    assert [each["content"] for each in wanted[2].messages] == ["3 so far"]
    assert len(talk.messages) == 3


@pytest.mark.parametrize("options", [{"max_rounds": 0}, {"max_rounds": 1, "when_spent": "stop"}])
def test_wrong_options_are_the_callers_mistake(options):
    """A limit below one, and an unknown word, are refused before any request."""
    with pytest.raises(ConfigurationError):
        next(tool_loop([user("q")], TOOLS, **options))


def test_a_long_loop_costs_no_more_per_round():
    """The conversation is shared from round to round, not copied."""
    rounds = 300
    model = ScriptedProvider([*[says("", calls("add", a=1, b=1)) for _ in range(rounds)], "ok"])
    assert run(model, max_rounds=rounds + 1).ok
    assert len({request.messages.storage for request in model.requests}) == 1
