"""``build_agent``: names to patterns and providers."""

from __future__ import annotations

import pytest

from brain.agent import PATTERNS, build_agent, pattern_class
from brain.cli.demo import DEMOS
from brain.errors import ConfigurationError, UnknownPattern
from brain.graph import PromptGraph, PromptNode
from brain.ledger import ContextCompaction
from brain.patterns import Autonomous, Debate, GraphPattern, React, ReActAgent, Research
from brain.testing import ScriptedProvider


def look(k: str) -> str:
    """Look something up."""
    return k


def test_a_name_gives_its_pattern_with_the_settings() -> None:
    """Tools, instructions and the pattern's own options arrive where they belong."""
    agent = build_agent("debate", tools=[look], instructions="Be brief.", max_rounds=2)
    assert isinstance(agent, Debate)
    assert (list(agent.tools), agent.system_prompt, agent.max_rounds) == (["look"], "Be brief.", 2)
    assert isinstance(build_agent(), React)
    assert isinstance(build_agent("react-text", tools={"look": look}), ReActAgent)
    research = build_agent("research", tools=[look])
    assert isinstance(research, Research)
    assert list(research.tools) == ["look"]
    assert isinstance(build_agent("autonomous", tools=[look]), Autonomous)


def test_every_name_has_a_class() -> None:
    """The catalogue is whole."""
    assert [pattern_class(name).__name__ for name in PATTERNS] == list(PATTERNS.values())


def test_a_graph_or_a_pattern_may_stand_for_the_name() -> None:
    """A given model is asked instead of its own; the original is left alone."""
    graph = PromptGraph("mine").add_node(PromptNode("only"))
    model = ScriptedProvider(["a", "b", "Final Answer: c"])
    agent = build_agent(graph, model=model)
    assert isinstance(agent, GraphPattern)
    assert agent.run("t").answer == "a"
    assert build_agent(agent_pattern=graph, model=model).run("t").answer == "b"
    original = ReActAgent()
    assert build_agent(original, model=model).run("t").answer == "c"
    assert original.run("t").answer == "t"
    with pytest.raises(ConfigurationError, match="tools is set where the graph or pattern is made"):
        build_agent(graph, tools=[look])


def test_models_have_names() -> None:
    """``echo`` is one; an unknown kind is refused."""
    assert build_agent("react-text", model="echo").run("hello").answer == "hello"
    with pytest.raises(ConfigurationError):
        build_agent("react", model="nobody:knows")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("debates",), "no pattern is called 'debates'; there are react, react-text, verify"),
        ((3,), "a name, a PromptGraph or a pattern, not int"),
        (("pipeline",), "PromptGraph.pipeline"),
    ],
)
def test_an_unknown_pattern_is_refused_with_the_known_ones(arguments: tuple[str], told: str) -> None:
    """At once."""
    with pytest.raises(ConfigurationError, match=told):
        build_agent(*arguments)
    if arguments[0] == "debates":
        with pytest.raises(UnknownPattern):
            build_agent(*arguments)


def test_an_unknown_option_is_refused_with_the_known_ones() -> None:
    """Those of the pattern's bases included."""
    with pytest.raises(ConfigurationError, match=r"debate has no option rounds; it has .*max_rounds.*system_prompt"):
        build_agent("debate", rounds=3)
    with pytest.raises(ConfigurationError, match="takes no context_compaction"):
        build_agent("react-text", context_compaction=ContextCompaction())


def test_a_cap_on_model_calls_holds_for_the_whole_run() -> None:
    """Whatever the pattern's own budgets are."""
    result = build_agent("debate", model=ScriptedProvider(["p"]), max_agent_iterations=1).run("t")
    assert not result.ok
    assert "1" in (result.error or "")


@pytest.mark.parametrize("name", DEMOS)
def test_a_demo_ends_well_and_its_whole_script_is_spoken(name: str) -> None:
    """With its real tools, whatever happens in between."""
    demo = DEMOS[name]
    pattern = demo.make()
    result = pattern.run(demo.task)
    assert result.ok, result.error
    assert len(pattern._get_provider().requests) == len(demo.script)  # type: ignore[attr-defined]
    assert "6 metres" in result.answer or "612" in result.answer or "too shallow" in result.answer
