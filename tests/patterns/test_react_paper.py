"""ReAct in the dialect of its paper: one growing text, numbered turns, ``Finish[answer]``."""

from __future__ import annotations

import pytest

from brain.errors import ConfigurationError
from brain.patterns import ReActAgent
from brain.patterns.react_paper import read_turn
from brain.testing import ScriptedProvider, play, returns, says

TOOLS = {"Search": lambda text: f"about {text}", "Lookup": lambda text: "none"}


def paper(**options: object) -> ReActAgent:
    return ReActAgent(TOOLS, dialect="paper", system_prompt="Solve it.", **options)  # type: ignore[arg-type]


def test_the_conversation_is_one_text_that_grows() -> None:
    """One message of the user; each turn adds a thought, an action and an observation under its number."""
    talk = play(
        paper(),
        "Question: Where?",
        [
            says(" I search.\nAction 1: Search[Lyon]"),
            returns("A city."),
            says(" I know.\nAction 2: Finish[France]"),
        ],
    )
    assert talk.result.answer == "France"
    assert talk.acted == [("Search", "Lyon")]
    assert [list(each) for each in talk.asked] == [
        [{"role": "user", "content": "Solve it.\n\nQuestion: Where?\nThought 1:"}],
        [
            {
                "role": "user",
                "content": "Solve it.\n\nQuestion: Where?\nThought 1: I search.\nAction 1: Search[Lyon]\n"
                "Observation 1: A city.\nThought 2:",
            }
        ],
    ]


def test_the_default_instructions_name_the_tools() -> None:
    """And the way to answer."""
    model = ScriptedProvider(["t\nAction 1: Finish[x]"])
    ReActAgent(TOOLS, model, dialect="paper").run("task")
    text = model.requests[0].messages[0]["content"]
    assert "Tools: Search, Lookup" in text
    assert "Finish[answer]" in text


def test_a_turn_without_an_action_is_asked_for_the_action_alone() -> None:
    """As the paper's code does; the thought stays."""
    talk = play(paper(), "t", ["I had better look.", "Search[Lyon]", returns("x"), "so\nAction: Finish[y]"])
    assert talk.asked[1][0]["content"].endswith("t\nThought 1: I had better look.\nAction 1:")
    assert talk.asked[2][0]["content"].endswith("Action 1: Search[Lyon]\nObservation 1: x\nThought 2:")
    assert talk.result.answer == "y"


@pytest.mark.parametrize(
    ("reply", "thought", "action"),
    [
        ("a\nAction 1: Search[b]", "a", "Search[b]"),
        ("Thought 1: a\nAction 1: Search[b]\nObservation 1: c\nThought 2: d", "a", "Search[b]"),
        ("a\nAction 1: Search[b]\nThought 2: c\nAction 2: Finish[d]", "a", "Search[b]"),
        ("a\naction: finish[b]", "a", "finish[b]"),
        ("the Action 1: is missing", "the Action 1: is missing", None),
        ("a\nObservation 1: b\nAction 1: Search[c]", "a", None),
        ("a\nAction 3: \n\nFinish[b]", "a", "\n\nFinish[b]"),
    ],
)
def test_a_turn_is_read(reply: str, thought: str, action: str | None) -> None:
    """Labels count at the start of a line; what follows an invented observation is not believed."""
    assert read_turn(reply) == (thought, action)


@pytest.mark.parametrize(
    ("action", "shown"),
    [
        ("Login", "Invalid action: Login"),
        ("Lookup[a] elsewhere", "Invalid action: Lookup[a] elsewhere"),
        ("\n\nFinish[x]", "Invalid action: Finish[x]"),
        ("Finish[]", "Invalid action: Finish[]"),
        ("Finish[ ]", "Invalid action: Finish[ ]"),
    ],
)
def test_an_action_of_another_form_is_shown_to_be_none(action: str, shown: str) -> None:
    """It is no tool call and no answer; the turn counts."""
    talk = play(paper(), "t", [f"a\nAction 1: {action}", "b\nAction 2: Finish[y]"])
    assert f"\nObservation 1: {shown}\nThought 2:" in talk.asked[1][0]["content"]
    assert talk.result.steps[0].observation == shown
    assert (talk.result.answer, talk.acted) == ("y", [])


def test_names_are_found_in_any_case_and_unknown_ones_are_told() -> None:
    """The tool's own spelling is called."""
    model = ScriptedProvider(["a\nAction 1: search[Lyon]", "b\nAction 2: Compare[c]", "d\nAction 3: FINISH[e]"])
    result = ReActAgent(TOOLS, model, dialect="paper").run("t")
    assert [step.observation for step in result.steps[:2]] == [
        "about Lyon",
        "Unknown tool 'Compare'. Available: Search, Lookup",
    ]
    assert result.answer == "e"


def test_what_ends_without_finish_is_no_answer() -> None:
    """Out of steps, an empty reply, a reply that was cut off: never the last text."""
    looking = ScriptedProvider(lambda *_, **__: "a\nAction 1: Search[b]")
    result = ReActAgent(TOOLS, looking, 2, dialect="paper").run("t")
    assert (result.ok, result.answer, result.error) == (
        False,
        "",
        "max_steps reached: 2 turns without Finish[answer]",
    )
    assert play(paper(), "t", [" "]).result.error == "the model's reply was empty"
    talk = play(paper(), "t", [says("a\nAction 1: Finish[b]", finish_reason="length"), "c\nAction 2: Finish[d]"])
    assert talk.result.answer == "d"


def test_a_dialect_that_is_none_and_a_tool_called_finish_are_refused() -> None:
    """At once."""
    with pytest.raises(ConfigurationError, match="'text' or 'paper', not 'json'"):
        ReActAgent(dialect="json")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="call the tool otherwise"):
        ReActAgent({"finish": str}, dialect="paper")
