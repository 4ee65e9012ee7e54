"""One way of reasoning in three forms: generator, contract, plugin; and every pattern through a contract."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from brain.cli.demo import DEMOS
from brain.contract import (
    DPPhase,
    Egress,
    EgressKind,
    GovernanceDenied,
    InterruptRequested,
    ModelReplied,
    PluginEvent,
    PluginRun,
    ReactPlugin,
    ResumeRequested,
    ToolFailed,
    ToolReturned,
    UserInputReceived,
)
from brain.errors import Interrupt, PolicyDenied, PolicyError
from brain.patterns import PlanAndExecute, ReActAgent
from brain.patterns.contract_forms import ReActContract, ReActMachine
from brain.patterns.contracts import ContractPattern, PluginPattern
from brain.patterns.plan_contract import PlanAndExecuteContract
from brain.policy import Act, Note
from brain.runtime import Hook
from brain.testing import ScriptedProvider
from brain.testing.conformance import CHECKS, Enrolled
from brain.types import Observation, Reply

TOOLS = {"look": lambda text: f"saw {text}", "boom": lambda text: 1 / 0}
LOOK, BOOM = "Thought: t\nAction: look\nAction Input: a", "Action: boom\nAction Input: b"
LINES = [LOOK, BOOM, "Action:", "Action: fly", "Final Answer: x", "4", "", "Thought: only", "Observation: no", "```"]

FORMS = {
    "contract": Enrolled(
        lambda model: ContractPattern(ReActContract(), TOOLS, model),
        [LOOK, "Action:\n", BOOM, "Action: fly", "Final Answer: x"],
    ),
    "plugin": Enrolled(
        lambda model: PluginPattern(ReActMachine(), TOOLS, model),
        [LOOK, "Action:\n", BOOM, "Action: fly", "Final Answer: x"],
    ),
    **{
        f"demo {name}": Enrolled(
            lambda model, demo=demo: demo.make().with_provider(model),  # type: ignore[misc]
            demo.script,
            demo.task,
        )
        for name, demo in DEMOS.items()
    },
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("form", ["contract", "plugin"])
def test_a_form_passes_what_every_pattern_passes(form: str, check: Callable[[Enrolled], None]) -> None:
    """The check holds for ReAct as a contract and as a plugin."""
    check(FORMS[form])


MOST = [
    "interrupted_anywhere_it_resumes_to_the_same_result",
    "a_round_trip_through_a_contract_changes_nothing",
    "a_journal_survives_json",
]


@pytest.mark.parametrize("check", [each for each in CHECKS if each.__name__ in MOST], ids=lambda check: check.__name__)
@pytest.mark.parametrize("form", [name for name in FORMS if name.startswith("demo")])
def test_every_pattern_survives_interruption_and_a_contract(form: str, check: Callable[[Enrolled], None]) -> None:
    """Each pattern of the catalogue, graphs included, in the conversation of its demo."""
    check(FORMS[form])


def nonsense(seed: int, lines: Sequence[str] = LINES) -> Callable[..., Reply]:
    """Return a model that says what a seed makes of the lines."""
    dice = random.Random(seed)

    def say(*_: Any, **__: Any) -> Reply:
        said = "\n".join(dice.choices(lines, k=dice.choice([1, 1, 1, 2])))
        return Reply(said, finish_reason=dice.choice([None, "stop", "stop", "length"]))

    return say


def story(pattern: Any, seed: int, *, notes: bool) -> Any:
    result = pattern.with_provider(ScriptedProvider(nonsense(seed))).run("t")
    entries = [
        (entry.digest, str(entry.outcome)) for entry in result.journal if notes or not isinstance(entry.action, Note)
    ]
    return result.answer, result.ok, result.error, entries


@pytest.mark.parametrize("max_steps", [1, 8])
def test_react_is_the_same_in_its_three_forms(max_steps: int) -> None:
    """On 300 random models: the same requests, calls, outcomes, answers and errors; a plugin makes no remarks."""
    generator = ReActAgent(TOOLS, max_steps=max_steps)
    contract = ContractPattern(ReActContract(max_steps), TOOLS)
    plugin = PluginPattern(ReActMachine(), TOOLS, config={"max_steps": max_steps})
    ended = set()
    for seed in range(300):
        expected = story(generator, seed, notes=True)
        assert story(contract, seed, notes=True) == expected, f"seed {seed}"
        assert story(plugin, seed, notes=False) == story(generator, seed, notes=False), f"seed {seed}"
        ended.add((expected[1], expected[2]))
    assert len(ended) == 3, "the models are too dull: answers, empty replies and spent steps should all occur"


PLANS = ['{"steps": ["a", "b"]}', '{"steps": ["c"]}', '{"steps": []}', "no JSON", "", "x", '{"steps": 3}', LOOK]


@pytest.mark.parametrize("replan", ["always", "failure", "never"])
@pytest.mark.parametrize(
    "executor", [None, lambda step: f"did {step}", lambda step: 1 / 0], ids=["agent", "tool", "bad"]
)
def test_plan_and_execute_is_the_same_as_a_contract(replan: Any, executor: Any) -> None:
    """On 40 random models each: the same record, answers and errors."""
    generator = PlanAndExecute(executor, tools=None if executor else TOOLS, replan=replan, max_steps=3)
    contract = ContractPattern(PlanAndExecuteContract(generator), generator.tools)
    ended = set()
    for seed in range(40):
        expected, got = (
            pattern.with_provider(ScriptedProvider(nonsense(seed, PLANS))).run("t") for pattern in (generator, contract)
        )
        assert record(got) == record(expected), f"seed {seed}"
        assert (got.answer, got.ok, str(got.exception)) == (expected.answer, expected.ok, str(expected.exception))
        ended.add(expected.ok)
    assert ended == {True, False}, "the models are too dull: runs should succeed and fail"


def test_the_plan_is_in_the_open() -> None:
    """Whoever holds the state sees the stage, the plan and the results."""
    pattern = PlanAndExecute(lambda step: f"did {step}", replan="never")
    contract = PlanAndExecuteContract(pattern)
    state = contract.start({"task": "t", "tools": ["execute"]})
    assert contract.opening(state).phase is DPPhase.PLAN
    call = contract.next_action(state, Reply('{"steps": ["a", "b"]}'))
    assert (call.tool, call.tool_input, state.memory["plan"], state.memory["step"]) == ("execute", "a", ["b"], "a")
    contract.next_action(state, Observation("did a"))
    assert (state.memory["results"], state.memory["plan"], state.step_id) == (["1. a -> did a"], [], 3)
    asked = contract.next_action(state, Observation("did b"))
    assert (asked.action_type, state.memory["stage"]) == ("llm_call", "answer")
    end = contract.next_action(state, Reply("x"))
    assert (end.action_type, end.answer, contract.should_continue(state)) == ("finalize", "x", False)
    contract.close()


def record(result: Any) -> list[Any]:
    return [(entry.digest, str(entry.outcome)) for entry in result.journal]


class Listens(ReactPlugin):
    """Asks, calls a tool, answers; keeps what it hears in the list that is its state."""

    heard: list[Any]

    def __init__(self, tool: str = "look") -> None:
        self.heard, self.tool = [], tool

    @property
    def plugin_id(self) -> str:
        return "plugin:listens"

    def initial(self, config: Mapping[str, Any]) -> int:
        return -1

    def handle_event(self, q: int, run: PluginRun, event: PluginEvent, config: Mapping[str, Any]) -> int:
        self.heard.append(type(event))
        return q + 1

    def evaluate_next(self, q: int, run: PluginRun, config: Mapping[str, Any]) -> Egress | EgressKind:
        if q == 0:
            return EgressKind.LLM_CALL
        if q == 1:
            return Egress(EgressKind.TOOL_CALL, self.tool, "x")
        return Egress(EgressKind.CLIENT_RESPONSE, answer=f"{config.get('greeting', '')}{run.task}{q}")

    def protocol_lines(self, q: int) -> list[str]:
        return [f"state {q}"]


def test_a_plugin_hears_events_and_answers_with_egress() -> None:
    """Task, reply, observation in; model call, tool call, response out; lines of the state in the request."""
    plugin, model = Listens(), ScriptedProvider(["r"])
    result = PluginPattern(plugin, TOOLS, model, config={"greeting": "hi "}).run("t")
    assert (result.ok, result.answer) == (True, "hi t2")
    assert plugin.heard == [UserInputReceived, ModelReplied, ToolReturned]
    assert list(model.requests[0].messages) == [
        {"role": "system", "content": "state 0"},
        {"role": "user", "content": "t"},
    ]


def test_failed_and_refused_calls_are_events_too() -> None:
    """An unknown tool is ``ToolFailed``; a hook's refusal is ``GovernanceDenied``, and no crash."""

    class No(Hook):
        def pre_tool_call(self, action: Act) -> None:
            raise PolicyDenied("no")

    for tool, hooks, last in (("fly", [], ToolFailed), ("look", [No()], GovernanceDenied)):
        plugin = Listens(tool)
        assert PluginPattern(plugin, TOOLS, ScriptedProvider(["r"])).run("t", hooks=hooks).ok
        assert plugin.heard == [UserInputReceived, ModelReplied, last]


def test_a_plugin_is_told_of_interruption_and_resumption_but_neither_changes_its_state() -> None:
    """They are announcements: the resumed run is the uninterrupted one."""

    class Stops(Hook):
        def pre_tool_call(self, action: Act) -> None:
            raise Interrupt

    plugin = Listens()
    half = PluginPattern(plugin, TOOLS, ScriptedProvider(["r"])).run("t", hooks=[Stops()])
    assert (half.state, plugin.heard) == ("INTERRUPTED", [UserInputReceived, ModelReplied, InterruptRequested])
    plugin = Listens()
    assert half.journal is not None
    whole = PluginPattern(plugin, TOOLS, ScriptedProvider([])).resume(half.journal)
    assert (whole.ok, whole.answer) == (True, "t2")
    assert plugin.heard == [UserInputReceived, ModelReplied, ResumeRequested, ToolReturned]
    plugin = Listens()
    assert whole.journal is not None
    assert PluginPattern(plugin, TOOLS, ScriptedProvider([])).replay(whole.journal).answer == "t2"
    assert plugin.heard == [UserInputReceived, ModelReplied, ToolReturned]


def test_mistakes_of_a_plugin_are_named() -> None:
    """No egress, or a tool call without a tool."""

    class Silent(Listens):
        def evaluate_next(self, q: int, run: PluginRun, config: Mapping[str, Any]) -> Any:
            return None if config else Egress(EgressKind.TOOL_CALL)

    with pytest.raises(PolicyError, match="evaluate_next returned None"):
        PluginPattern(Silent(), config={"a": 1}).run("t")
    with pytest.raises(PolicyError, match="TOOL_CALL without a tool"):
        PluginPattern(Silent()).run("t")
    with pytest.raises(TypeError, match="plugin must be a ReactPlugin, not int"):
        PluginPattern(3)  # type: ignore[arg-type]
