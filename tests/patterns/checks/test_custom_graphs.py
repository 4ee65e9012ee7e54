"""Checks 87 to 89, 94, 99, 100, 102, 103, 106 and 107: graphs of one's own, and what holds for all."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from brain.errors import BudgetExceeded, GraphError, GraphExecutionError, HookError
from brain.graph import END, AutonomousNode, GuardNode, PolicyNode, PromptGraph, PromptNode, ThinkNode
from brain.graph.skills import planner, summarizer, web_researcher
from brain.patterns import PEOATR, Debate, React, Research
from brain.policy import Act, Ask
from brain.runtime import ActionEnded, ActionStarted, Hook, Limits, RunEnded
from brain.testing import ScriptedProvider, calls, says
from brain.types import Reply, Usage
from tests.patterns.checks.helpers import Tools, call, messages_of, notes, obj, play, text_of, told


def custom() -> PromptGraph:
    """The graph of the specification: plan, search, analyze, write, review."""
    graph = PromptGraph("custom", mode="static")
    graph.add_node(planner("plan"))
    graph.add_node(web_researcher("search", tools=Tools().all))
    graph.add_node(PromptNode("analyze", "Analyze findings.", output_key="analysis"))
    graph.add_node(summarizer("write"))
    graph.add_node(GuardNode("review", on_pass=END, on_fail="write"))
    graph.always("plan", "search")
    graph.always("search", "analyze")
    graph.when("analyze", "write", lambda r: (r.output or {}).get("quality", 0) >= 4)
    graph.when("analyze", "search", lambda r: (r.output or {}).get("quality", 0) < 4)
    graph.always("write", "review")
    graph.set_entry("plan")
    return graph


def run(graph: PromptGraph, script: list[Any], **options: Any) -> Any:
    model = ScriptedProvider(script)
    return graph.run("TASK", provider=model, **options), model


def test_check_87_a_condition_chooses_the_way():
    """Good quality goes on to the writer, poor quality back to the search."""
    result, _ = run(custom(), ["1. look", call("look", k="a"), "found", obj(quality=5), "WRITTEN"])
    assert (result.ok, result.answer) == (True, "WRITTEN")
    assert result.path == ["plan", "search", "search", "analyze", "write", "review"]

    result, _ = run(custom(), ["1. look", "found", obj(quality=2), "found more", obj(quality=5), "WRITTEN"])
    assert result.path == ["plan", "search", "analyze", "search", "analyze", "write", "review"]


def test_check_87_a_condition_that_raises_is_an_error():
    """It is not taken for a no."""
    result, _ = run(custom(), ["1. look", "found", "good, I think"])

    assert isinstance(result.exception, GraphExecutionError)
    assert isinstance(result.exception.__cause__, AttributeError)
    assert not result.ok
    assert "the condition of the edge analyze -> write raised AttributeError" in str(result.error)


def fork(*edges: tuple[str, bool, int]) -> PromptGraph:
    """A stage ``a`` with edges: to where, whether with a condition that holds, of which priority."""
    graph = PromptGraph("fork")
    for name in ("a", "b", "c"):
        graph.add_node(PromptNode(name, f"Do {name}."))
    for target, conditional, priority in edges:
        if conditional:
            graph.when("a", target, lambda r: True, priority=priority)
        else:
            graph.always("a", target, priority=priority)
    return graph


@pytest.mark.parametrize(
    ("edges", "second"),
    [
        ([("b", False, 0), ("c", True, 0)], "c"),
        ([("b", False, 1), ("c", True, 0)], "b"),
        ([("b", True, 0), ("c", True, 0)], "b"),
        ([("b", True, 0), ("c", True, 5)], "c"),
        ([("b", False, 0), ("c", False, 0)], "b"),
    ],
)
def test_check_88_priority_then_conditions_then_order(edges: list[tuple[str, bool, int]], second: str):
    """A higher priority wins; at equal priority a condition that holds, and then the earlier edge."""
    result, _ = run(fork(*edges), ["one", "two"])
    assert result.path == ["a", second]


def two(**options: Any) -> PromptGraph:
    graph = PromptGraph("two", **options)
    graph.add_node(PromptNode("a", "Do a."))
    graph.add_node(PromptNode("b", "Do b."))
    graph.always("a", "b")
    return graph


def refused() -> Iterator[tuple[PromptGraph, str]]:
    yield PromptGraph("g"), "it has no stages"
    yield two().always("b", "nowhere"), "the edge b -> nowhere leads to an unknown stage"
    yield two().always("nobody", "a"), "the edge nobody -> a leaves an unknown stage"
    yield two().set_entry("nowhere"), "the entry 'nowhere' is no stage"
    yield two().set_entry("b"), "stage 'a' cannot be reached"
    yield two().always("b", "a"), "there is no way from stage 'a' to the end"
    route = ThinkNode("t", routes={"continue": "nowhere"}, default="continue")
    yield two().add_node(route).always("b", "t"), "route 'continue' of stage 't' leads to the unknown stage 'nowhere'"
    guard = GuardNode("g", on_pass="nowhere")
    yield two().add_node(guard).always("b", "g"), "route 'pass' of stage 'g' leads to the unknown stage 'nowhere'"
    spent = PromptNode("s", max_visits=1, when_spent="nowhere")
    yield two().add_node(spent).always("b", "s"), "stage 's' hands over to the unknown stage 'nowhere'"
    circle = PromptGraph("g").add_node(PromptNode("a", max_visits=1, when_spent="b"))
    circle.add_node(PromptNode("b", max_visits=1, when_spent="a")).always("a", "b").always("b", END)
    yield circle, "stages hand over to each other in a circle: a -> b -> a"
    clash = PromptGraph("g").add_node(PromptNode("a", tools={"look": str}))
    clash.add_node(PromptNode("b", tools={"look": repr})).always("a", "b")
    yield clash, "stages 'a' and 'b' have different tools called 'look'"


@pytest.mark.parametrize(("graph", "problem"), list(refused()), ids=lambda each: each if isinstance(each, str) else "")
def test_check_89_a_graph_that_cannot_run_is_refused_before_it_does(graph: PromptGraph, problem: str):
    """By ``validate``, and by ``run`` before any model call."""
    with pytest.raises(GraphError) as refusal:
        graph.validate()
    assert problem in str(refusal.value)
    model = ScriptedProvider([])
    with pytest.raises(GraphError):
        graph.run("TASK", provider=model)
    assert model.requests == []


def test_check_89_two_stages_of_one_name_are_refused_when_added():
    """As are a name that is the end's, and no name."""
    with pytest.raises(GraphError, match="two stages called 'a'"):
        two().add_node(PromptNode("a"))
    for name in (END, " "):
        with pytest.raises(GraphError, match="a name of its own"):
            PromptNode(name)


def test_check_89_a_pool_is_checked_like_a_graph():
    """Two of one name, two tools of one name, the word for the end, an unknown entry."""
    a = PromptNode("a", tools={"look": str})
    for pool, options, problem in [
        ([], {}, "the pool is empty"),
        ([a, a], {}, "two stages called 'a'"),
        ([a, PromptNode("b", tools={"look": repr})], {}, "different tools called 'look'"),
        ([PromptNode("__done__")], {}, "__done__ is what the model says"),
        ([a], {"entry_node": "c"}, "'c' is not in the pool"),
    ]:
        with pytest.raises(GraphError, match=problem):
            AutonomousNode("auto", pool, **options)


class Short:
    """A guard as an object."""

    def check(self, text: str) -> bool:
        return len(text) < 5


def guarded(guard: GuardNode) -> PromptGraph:
    graph = PromptGraph("guarded").add_node(PromptNode("write", "Write.")).add_node(guard)
    return graph.always("write", "guard")


def test_check_94_guards_are_objects_or_callables():
    """All must pass; a text says why not."""
    guards = [Short(), lambda text: "!" not in text or "no shouting"]
    result, _ = run(guarded(GuardNode("guard", guards)), ["good"])
    assert (result.ok, result.answer) == (True, "good")

    for text, why in (("too long", "guard Short failed"), ("no!", "no shouting")):
        result, _ = run(guarded(GuardNode("guard", guards)), [text])
        assert isinstance(result.exception, GraphExecutionError)
        assert (result.ok, result.answer) == (False, "")
        assert result.error == f"guarded (guard): stage guard failed: {why}"
        assert notes(result, "guard") == [f"guard: {why}"]


def test_check_94_a_guard_with_on_fail_leads_there():
    """The stage there is shown why, where it reads it."""
    graph = PromptGraph("g").add_node(PromptNode("write", "Write.", input_keys=["guard"]))
    graph.add_node(GuardNode("guard", [Short()], on_pass=END, on_fail="write")).always("write", "guard")
    result, model = run(graph, ["too long", "good"])
    assert (result.ok, result.answer, result.path) == (True, "good", ["write", "guard"] * 2)
    assert "guard Short failed" in text_of(model, 2)


@pytest.mark.parametrize("said", [None, 1, "raise"])
def test_check_94_a_guard_that_says_neither_yes_nor_no_fails_the_run(said: Any):
    """So does one that raises; it is named."""

    def odd(text: str) -> Any:
        if said == "raise":
            raise ValueError("kaput")
        return said

    result, _ = run(guarded(GuardNode("guard", [odd], on_fail=END)), ["good"])
    assert isinstance(result.exception, GraphExecutionError)
    assert "guard odd " in str(result.error)


class Silent(Hook):
    """Looks at everything and says nothing."""

    def pre_llm_call(self, action: Ask) -> None:
        return None

    def post_tool_call(self, action: Act, observation: Any) -> None:
        return None


class Wrong(Hook):
    def pre_tool_call(self, action: Act) -> Any:
        return "what?"


class BreaksBeforeTools(Hook):
    def pre_tool_call(self, action: Act) -> None:
        raise ValueError("kaput")


class BreaksBeforeStage(Hook):
    """Stands before a stage: it sees its first request."""

    def pre_llm_call(self, action: Ask) -> None:
        if action.phase == "b":
            raise ValueError("kaput")


def test_check_99_hooks_that_say_nothing_change_nothing_and_those_that_break_stop_the_run():
    """A wrong return and a crash are told with the hook's name; the tool is not called."""
    plain, _ = run(custom(), ["plan", call("look", k="a"), "found", obj(quality=5), "W"])
    silent, _ = run(custom(), ["plan", call("look", k="a"), "found", obj(quality=5), "W"], hooks=[Silent()])
    assert (silent.answer, silent.path) == (plain.answer, plain.path)

    for hook, problem in [
        (Wrong(), "Wrong.pre_tool_call returned str"),
        (BreaksBeforeTools(), "BreaksBeforeTools.pre_tool_call raised ValueError: kaput"),
    ]:
        tools = Tools()
        result, model = play(lambda model, tools=tools: React(tools.all, model), [call("look", k="a")], hooks=[hook])
        assert isinstance(result.exception, HookError)
        assert problem in str(result.error)
        assert (result.ok, tools.looked, len(model.requests)) == (False, [], 1)

    result, model = run(two(), ["one"], hooks=[BreaksBeforeStage()])
    assert isinstance(result.exception, HookError)
    assert (result.ok, result.path, len(model.requests)) == (False, ["a", "b"], 1)


FIFTEEN = Usage(10, 5)


def test_check_100_a_budget_of_tokens_stops_a_tool_round_with_what_was_pending():
    """Fifteen tokens a request, twenty in all: the second round of calls is not made."""
    tools = Tools()
    script = [
        says("", calls("look", k="a"), usage=FIFTEEN),
        says("", calls("look", k="b"), calls("add", a=1, b=2), usage=FIFTEEN),
    ]
    result, _ = play(lambda model: React(tools.all, model), script, hooks=[Limits(tokens=20)])

    error = result.exception
    assert isinstance(error, BudgetExceeded)
    assert (error.limit, error.value, error.pending) == ("tokens", 20, ("look", "add"))
    assert (result.ok, result.answer, tools.looked, tools.added) == (False, "", ["a"], [])
    assert result.usage == Usage(20, 10)


def test_check_100_an_answer_over_the_budget_is_given_and_flagged():
    """It has been paid for."""
    script = [says("", calls("look", k="a"), usage=FIFTEEN), says("ANSWER", usage=FIFTEEN)]
    result, _ = play(lambda model: React(Tools().all, model), script, hooks=[Limits(tokens=20)])

    assert (result.ok, result.answer) == (True, "ANSWER")
    assert result.warnings == ["the run went over its limit of 20 tokens: it took 30"]


@pytest.mark.parametrize("reply", ['{"route": "c"}', '{"_next": "c"}', '{"graph": {"add_edge": ["a", "c"]}}'])
def test_check_102_a_reply_changes_no_graph(reply: str):
    """Only declared routes are followed; a dynamic graph lets a reply name the next stage."""
    graph = fork(("b", False, 0)).always("b", "c")
    result, _ = run(graph, [reply, "two", "three"])
    assert result.path == ["a", "b", "c"]

    graph.mode = "dynamic"
    result, _ = run(graph, ['{"route": "c"}', "three"])
    assert result.path == ["a", "c"]
    result, _ = run(graph, ['{"route": "nowhere"}', "two", "three"])
    assert result.path == ["a", "b", "c"]


def events_of(model: ScriptedProvider) -> list[Any]:
    return list(React(Tools().all, model).stream("TASK"))


def test_check_103_the_events_of_a_tool_turn_come_in_order():
    """Node, request, tools, request, node; each start has its end under one id, with a duration."""
    turn = says("", calls("look", k="a"), calls("boom"))
    model = ScriptedProvider([turn, "done"])
    events = events_of(model)

    pair = ["ActionStarted", "ActionEnded"]
    assert [word for word in told(events) if word != "StepEnded"] == [
        "RunStarted",
        "stage: reason",
        *pair,
        *pair,
        *pair,
        "round: reason",
        *pair,
        "stage ended: reason",
        "route: reason -> __end__",
        "RunEnded",
    ]
    started = [event.id for event in events if isinstance(event, ActionStarted)]
    ended = [event for event in events if isinstance(event, ActionEnded)]
    assert started == [event.id for event in ended]
    assert len(set(started)) == 4
    assert [event.entry.outcome.ok for event in ended[1:3]] == [True, False]  # type: ignore[union-attr]
    assert all(event.entry.seconds >= 0 for event in ended)
    assert isinstance(events[-1], RunEnded)

    again = ScriptedProvider([turn, "done"])
    plain = React(Tools().all, again).run("TASK")
    assert len(again.requests) == len(model.requests)
    assert (plain.answer, plain.path) == (events[-1].result.answer, events[-1].result.path)


def test_check_103_a_failure_is_told_before_the_end_of_its_stage():
    """First that it failed, then that it ended."""
    words = told(events_of(ScriptedProvider([OSError("down")])))

    assert words == [
        *["RunStarted", "stage: reason", "ActionStarted", "ActionEnded"],
        *["stage failed: reason: OSError: down", "stage ended: reason", "RunEnded"],
    ]


def test_check_106_two_runs_of_one_graph_share_nothing():
    """One after the other, and four at once; each result is of its own run."""
    graph = PromptGraph.debate()
    script = ["p", obj(severity=0), obj(passes=True)]

    def model(messages: Any, **_: Any) -> str:
        task = str(messages[0]["content"]).split("\n")[0]
        said = str(messages[-1]["content"])
        if '- "severity"' in said:
            return script[1]
        return script[2] if '- "passes"' in said else f"about {task}"

    first, second = (graph.run(task, provider=ScriptedProvider(model)) for task in ("one", "two"))
    assert (first.answer, second.answer) == ("about one", "about two")
    assert first.path == second.path == ["proposer", "critic", "judge", "answer"]
    assert first.journal is not second.journal

    provider, results = ScriptedProvider(model), {}

    def work(task: str) -> None:
        results[task] = graph.run(task, provider=provider)

    threads = [threading.Thread(target=work, args=(f"task {number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {task: result.answer for task, result in results.items()} == {
        f"task {number}": f"about task {number}" for number in range(4)
    }
    assert {len(result.steps) for result in results.values()} == {4}


def test_check_107_the_totals_are_the_sum_over_all_requests():
    """Routing, judging, repairs and embedded patterns included."""
    one = Usage(1, 2)

    def costing(text: Any) -> Any:
        return says(text, usage=one) if isinstance(text, str) else says("", *text.reply.tool_calls, usage=one)

    inner = React(Tools().all)
    graph = PromptGraph("whole")
    graph.add_node(AutonomousNode("auto", [PromptNode("work", "Work.", answers=False)], max_steps=1))
    graph.add_node(PolicyNode("inner", inner))
    graph.add_node(ThinkNode("think", routes={"continue": "inner", "reflect": END}, default="reflect"))
    graph.always("auto", "inner").always("inner", "think")
    script = [
        *[obj(next="work"), "worked", "auto answer"],
        *[call("look", k="a"), "inner answer"],
        *["not JSON", obj(route="reflect")],
    ]
    result, model = run(graph, [costing(each) for each in script])

    assert (result.ok, result.answer, len(model.requests)) == (True, "inner answer", 7)
    assert result.usage == Usage(7, 14)
    assert [step.usage for step in result.steps] == [one] * 7
    assert [step.agent for step in result.steps] == ["", "", "", "inner", "inner", "", ""]
    assert [step.action for step in result.steps if step.action] == ["look"]


def test_an_embedded_pattern_brings_all_its_tools():
    """Those of its stages too, not only those of its first parameter."""
    tools = Tools()
    graph = PromptGraph("outer").add_node(
        PolicyNode("research", Research(None, synthesis_tools=[tools.look], verify=False))
    )
    result, _ = run(graph, ["found nothing", call("look", k="a"), "FINAL"])

    assert (result.ok, result.answer, tools.looked) == (True, "FINAL", ["a"])


def test_values_go_from_stage_to_stage_by_key():
    """``output_key`` puts them into the context, ``input_keys`` shows them; the conversation can be left out."""
    graph = PromptGraph("keys", system_prompt="S")
    graph.add_node(PromptNode("count", "Count.", output_key="count"))
    graph.add_node(PromptNode("use", "Use it.", input_keys=["count"], context_scope="scoped"))
    graph.always("count", "use")
    result, model = run(graph, ['{"boats": 3}', "three boats"])

    assert result.answer == "three boats"
    assert [(each["role"], each["content"]) for each in messages_of(model, 2)] == [
        ("system", "S"),
        ("user", 'TASK\n\ncount:\n{"boats": 3}\n\nUse it.'),
    ]


def test_a_stage_out_of_visits_hands_over_or_fails():
    """With ``when_spent`` the run goes on there; without, it says which budget was used."""
    graph = PromptGraph("loop").add_node(PromptNode("a", "Again.", max_visits=2, when_spent=END)).always("a", "a")
    result, _ = run(graph, ["one", "two"])
    assert (result.ok, result.answer, result.path) == (True, "two", ["a", "a"])

    graph = PromptGraph("loop").add_node(PromptNode("a", "Again.", max_visits=2))
    graph.always("a", "a").when("a", END, lambda r: False)
    result, _ = run(graph, ["one", "two"])
    assert isinstance(result.exception, GraphExecutionError)
    assert "stage a has used its budget" in str(result.error)


def test_a_reply_that_only_repeats_the_question_is_no_answer():
    """Nor is one that was cut off; both are asked for again, once."""
    graph = PromptGraph("one").add_node(PromptNode("a", "Do a."))
    for bad, why in (("TASK\n\nDo a.", "only repeated"), (Reply("half of", finish_reason="length"), "was cut off")):
        result, _ = run(graph, [bad, "good"])
        assert (result.ok, result.answer, len(notes(result, "repair"))) == (True, "good", 1)
        assert why in notes(result, "repair")[0]


@pytest.mark.parametrize(
    "graph",
    [PromptGraph.react(), PromptGraph.verify(), PromptGraph.managed(), PromptGraph.peoatr(), PromptGraph.research()]
    + [PromptGraph.autonomous(), PromptGraph.deliberate(), PromptGraph.debate()]
    + [PromptGraph.pipeline(PromptNode("a"), PromptNode("b"))],
    ids=lambda graph: graph.name,
)
def test_the_echo_is_no_model_and_the_run_says_so(graph: PromptGraph):
    """Offline, without a model, every pattern ends; what the echo cannot do is the error."""
    result = graph.run("What is two and two?")

    assert (result.ok, result.answer) == (False, "")
    assert isinstance(result.exception, GraphExecutionError)
    assert "only repeated what was asked, as an echo does" in str(result.error)


def test_factories_take_the_parameters_of_the_specification():
    """Positional order as published; what is unknown is refused."""
    tools = Tools().all
    assert PromptGraph.react(tools, "S", ["B"], 3).nodes["reason"].max_iterations == 3  # type: ignore[attr-defined]
    assert PromptGraph.debate("S", tools, ["B"], 2, 5).nodes["proposer"].max_visits == 5
    assert PromptGraph.research(tools, None, "S", None, False).nodes.keys() == {"search", "synthesize"}
    assert PromptGraph.peoatr(tools, "S", None, "P", "A", "T", "R", 7).nodes["act"].max_visits == 7
    for make in (PromptGraph.react, PromptGraph.debate, PEOATR, Debate):
        with pytest.raises(TypeError, match="foo"):
            make(foo=1)  # type: ignore[operator]


def test_a_loop_that_nothing_ends_is_ended():
    """By ``max_steps``, whose error says what to do; stages of a pool that are used up are not chosen again."""
    graph = PromptGraph("loop", max_steps=3).add_node(PromptNode("a", "Again."))
    graph.always("a", "a").when("a", END, lambda r: False)
    result, _ = run(graph, ["one", "two", "three"])
    assert isinstance(result.exception, BudgetExceeded)
    assert (result.exception.limit, result.exception.value, result.exception.pending) == ("max_steps", 3, ("a",))
    assert (result.ok, result.path) == (False, ["a"] * 3)

    auto = AutonomousNode("auto", [PromptNode("once", max_visits=1)])
    result, model = run(
        PromptGraph("g").add_node(auto), [obj(next="once"), "did", obj(next="once"), obj(next="__done__"), "FINAL"]
    )
    assert (result.answer, result.path) == ("FINAL", ["auto", "once", "auto answer"])
    assert "once has run before and may not run again" in text_of(model, 4)


def test_a_stage_that_makes_no_sense_is_refused_when_made():
    """By the name of what is wrong; the limit of a stage is told by its own name."""
    for options in ({"max_iterations": 0}, {"when_out": "stop"}, {"context_scope": "some"}, {"max_visits": 0}):
        with pytest.raises(ValueError, match=next(iter(options))):
            PromptNode("a", **options)
    with pytest.raises(GraphError, match="the default route 'on' is none of continue"):
        ThinkNode("t", routes={"continue": END}, default="on")

    graph = PromptGraph("g").add_node(PromptNode("a", tools=Tools().all, max_iterations=1))
    result, _ = run(graph, [call("look", k="a")])
    assert isinstance(result.exception, BudgetExceeded)
    assert result.exception.limit == "max_iterations"
    assert str(result.error).startswith("g (a): max_iterations=1 is used up, and the model still calls look")


def found(k: str) -> str:
    """Find."""
    return f"found {k}"


@pytest.mark.parametrize("kind", [React, PEOATR, Debate, Research])
def test_patterns_can_be_pickled(kind: Any):
    """They are configuration; the graph is made anew for each run."""
    import pickle

    again = pickle.loads(pickle.dumps(kind([found], system_prompt="S")))
    assert again.graph().describe() == kind([found], system_prompt="S").graph().describe()
