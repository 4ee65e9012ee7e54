"""ReActAgent: what it asks, does and answers."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from brain.errors import BrainError, ConfigurationError, ProviderError
from brain.patterns import ReActAgent
from brain.testing import ScriptedProvider, fails, play, returns, says
from brain.types import Reply, Usage

LOOK = "Thought: look it up\nAction: search\nAction Input: France"


def test_it_acts_on_an_observation_before_it_answers() -> None:
    """The second question to the model shows what the tool returned."""
    talk = play(
        ReActAgent({"search": str}),
        "Capital of France?",
        [says(LOOK), returns("Paris is the capital of France."), says("Thought: now I know\nFinal Answer: Paris")],
    )
    assert talk.result.answer == "Paris"
    assert talk.acted == [("search", "France")]
    assert talk.asked[1][-1]["content"] == "Observation: Paris is the capital of France."
    assert [step.thought for step in talk.result.steps] == ["look it up", "now I know"]


def test_the_page_s_example_runs_offline() -> None:
    """Without a provider, the echo answers, and nothing is needed."""
    agent = ReActAgent(tools={"search": lambda q: f"[result: {q}]"}, max_steps=6)
    result = agent.run("What is the capital of France?")
    assert (result.ok, result.answer) == (True, "What is the capital of France?")


def test_an_invented_observation_is_not_believed() -> None:
    """What a model writes after its own Observation label is cut off and never sent back as its turn."""
    talk = play(
        ReActAgent({"search": str}),
        "t",
        [says(LOOK + "\nObservation: LIE\nFinal Answer: LIE"), returns("truth"), says("Final Answer: truth")],
    )
    assert talk.result.answer == "truth"
    assert "LIE" not in str(list(talk.asked[1]))
    assert "LIE" in talk.result.steps[0].text


def test_an_empty_reply_is_not_an_answer() -> None:
    """The run fails and says that the reply was empty; the step is kept."""
    talk = play(ReActAgent(), "t", [says("  \n")])
    assert (talk.result.ok, talk.result.error, talk.result.answer) == (False, "the model's reply was empty", "")
    assert len(talk.result.steps) == 1


def test_a_reply_without_content_is_an_empty_reply() -> None:
    """A provider whose text is None has replied nothing."""

    class Silent:
        def generate(self, messages: Any, tools: Any = (), tool_choice: Any = "none") -> Any:
            return type("Said", (), {"text": None})()

    result = ReActAgent(provider=Silent()).run("t")
    assert (result.ok, result.error) == (False, "the model's reply was empty")


def test_a_cut_off_reply_is_neither_action_nor_answer() -> None:
    """A reply that the provider cut short is not acted on; the model is told, and the step counts."""
    talk = play(
        ReActAgent({"delete": str}),
        "t",
        [says("Action: delete\nAction Input: id >", finish_reason="length"), says("Final Answer: no")],
    )
    assert talk.acted == []
    assert "cut off" in talk.asked[1][-1]["content"]
    assert "cut off" in talk.result.steps[0].observation
    assert talk.result.iterations == 2


def test_labels_that_cannot_be_used_are_explained_back() -> None:
    """The model is shown on one line what was wrong and which form is expected; the step counts."""
    talk = play(ReActAgent({"search": str}), "t", [says("Thought: hm\nAction:"), says("Final Answer: 4")])
    told = talk.asked[1][-1]["content"]
    assert told.startswith("Observation: `Action:` names no tool.")
    assert "Final Answer:" in told
    assert "\n" not in told
    assert [step.thought for step in talk.result.steps] == ["hm", ""]


def test_a_plain_reply_is_the_answer_unless_a_final_one_is_required() -> None:
    """``require_final_answer`` asks again with a reminder."""
    assert play(ReActAgent(), "t", [says("It is 4.")]).result.answer == "It is 4."
    talk = play(ReActAgent(require_final_answer=True), "t", [says("It is 4."), says("Final Answer: 4")])
    assert talk.result.answer == "4"
    assert "Final Answer" in talk.asked[1][-1]["content"]


def test_at_the_limit_the_run_fails_with_the_last_text() -> None:
    """After ``max_steps`` replies without an answer the page's error is given."""
    talk = play(ReActAgent({"search": str}, max_steps=2), "t", [says(LOOK), returns("r"), says(LOOK), returns("r")])
    result = talk.result
    assert (result.ok, result.error, result.iterations) == (False, "max_steps reached without Final Answer", 2)
    assert result.answer == LOOK


def test_a_failing_model_call_ends_the_run_with_its_steps() -> None:
    """The error names pattern and call, keeps its cause, and the steps before it."""
    cause = RuntimeError("502")
    result = ReActAgent({"search": str}, ScriptedProvider([LOOK, cause])).run("t")
    assert (result.ok, result.iterations, len(result.steps)) == (False, 1, 1)
    assert result.error == "ReActAgent, model call 2: RuntimeError: 502"
    assert isinstance(result.exception, ProviderError)
    assert result.exception.__cause__ is cause
    with pytest.raises(ProviderError, match="502"):
        result.raise_for_error()


def test_a_failure_can_be_scripted() -> None:
    """``fails`` stands where a call fails."""
    result = play(ReActAgent(), "t", [fails("no model today")]).result
    assert (result.ok, result.error) == (False, "ReActAgent, model call 1: no model today")


def test_only_the_tool_names_are_filled_into_a_prompt() -> None:
    """All other braces of a custom prompt stay."""
    talk = play(ReActAgent({"a": str, "b": str}, system_prompt="{date} {tool_names} {0} {{x}}"), "t", [says("x")])
    assert talk.asked[0][0] == {"role": "system", "content": "{date} a, b {0} {{x}}", "cache_stable": True}


def test_a_tool_with_several_parameters_gets_the_json_object() -> None:
    """Arguments are validated; a misfit is an observation that says what is expected."""

    def move(x: int, y: int = 0) -> str:
        return f"at {x}, {y}"

    model = ScriptedProvider(
        ['Action: move\nAction Input: {"x": "3"}', 'Action: move\nAction Input: {"x": "a"}', "Final Answer: ok"]
    )
    result = ReActAgent({"move": move}, model).run("t")
    assert result.steps[0].observation == "at 3, 0"
    assert "x" in result.steps[1].observation
    assert "int" in result.steps[1].observation


def test_usage_and_time_add_up() -> None:
    """Tokens of all calls are summed; without any told, usage is None."""
    model = ScriptedProvider(
        [Reply(LOOK, usage=Usage(10, 2)), Reply("Final Answer: x", usage=Usage(20, 3, cache_read=8))]
    )
    result = ReActAgent({"search": str}, model).run("t")
    assert result.usage == Usage(30, 5, cache_read=8)
    assert result.steps[1].usage == Usage(20, 3, cache_read=8)
    assert result.seconds >= sum(step.seconds for step in result.steps) > 0
    assert ReActAgent().run("t").usage is None


def test_keyboard_interrupt_gets_through_with_what_was_done() -> None:
    """The journal up to that point survives, on the exception."""

    def tool(text: str) -> str:
        if text == "2":
            raise KeyboardInterrupt
        return "r"

    model = ScriptedProvider(["Action: tool\nAction Input: 1", "Action: tool\nAction Input: 2"])
    with pytest.raises(KeyboardInterrupt) as stopped:
        ReActAgent({"tool": tool}, model).run("t")
    partial = stopped.value.partial_result  # type: ignore[attr-defined]
    assert (partial.ok, partial.state, len(partial.steps)) == (False, "INTERRUPTED", 2)
    assert partial.steps[0].observation == "r"


def test_an_agent_is_configuration_and_can_be_pickled() -> None:
    """A copy made by pickle runs like the original."""
    agent = pickle.loads(pickle.dumps(ReActAgent({"len": len}, max_steps=3)))
    assert agent.run("q").answer == "q"
    assert agent.max_steps == 3


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"tools": {"search": 3}}, ["tools", "search", "callable"]),
        ({"tools": "search"}, ["tools", "str"]),
        ({"tools": 5}, ["tools", "int"]),
        ({"tools": {"": str}}, ["tools", "name"]),
        ({"max_steps": 0}, ["max_steps", "at least 1", "0"]),
        ({"max_steps": -1}, ["max_steps", "at least 1"]),
        ({"max_steps": 2.5}, ["max_steps", "whole number", "2.5"]),
        ({"max_steps": True}, ["max_steps", "whole number"]),
        ({"max_steps": "3"}, ["max_steps", "whole number"]),
        ({"system_prompt": 3}, ["system_prompt", "str"]),
        ({"provider": "gpt"}, ["provider", "generate"]),
    ],
)
def test_a_wrong_argument_is_an_error_at_once(arguments: dict[str, Any], told: list[str]) -> None:
    """The error names the argument and what was expected."""
    with pytest.raises(ConfigurationError) as error:
        ReActAgent(**arguments)
    assert isinstance(error.value, ValueError)
    assert all(text in str(error.value) for text in told), str(error.value)


def test_an_unknown_keyword_to_run_lists_the_known_ones() -> None:
    """Nothing is asked before the mistake is told."""
    model = ScriptedProvider([])
    with pytest.raises(ConfigurationError, match=r"unknown keyword foo; known are hooks, journal, max_"):
        ReActAgent(provider=model).run("t", foo=1)
    with pytest.raises(TypeError):
        ReActAgent(provider=model).run("t", foo=1)
    assert model.requests == []


@pytest.mark.parametrize("task", [None, 3, b"bytes", ["list"]])
def test_a_task_that_is_no_text_is_an_error_at_once(task: Any) -> None:
    """The error names the argument, what was expected and what came."""
    for method in ("run", "stream", "iter"):
        with pytest.raises(TypeError, match=f"task must be a str, not {type(task).__name__}") as error:
            list(getattr(ReActAgent(), method)(task))
        assert isinstance(error.value, ConfigurationError)
        assert isinstance(error.value, BrainError)


def test_options_of_the_wrong_type_are_errors_at_once() -> None:
    """Hooks, on_event and max_workers are checked before anything runs."""
    for options in ({"hooks": 3}, {"hooks": ["x"]}, {"on_event": 3}, {"max_workers": 0}, {"max_workers": "2"}):
        with pytest.raises(ConfigurationError, match=next(iter(options))):
            ReActAgent().run("t", **options)
