"""Tree of Thoughts: proposing, valuing, keeping the best; going deeper, pruning, stepping back."""

from __future__ import annotations

from typing import Any

import pytest

from brain.errors import ConfigurationError, WrongType
from brain.patterns import TreeOfThoughts
from brain.policy import Note, ask, note
from brain.testing import ScriptedProvider, play, says
from brain.types import PatternResult


def kept(result: PatternResult) -> list[tuple[list[str], list[float]]]:
    actions = [entry.action for entry in result.journal or ()]
    data = [each.data or {} for each in actions if isinstance(each, Note) and each.kind == "kept"]
    return [(each["states"], each["values"]) for each in data]


def notes(result: PatternResult, kind: str) -> list[str]:
    return [
        each.action.text for each in result.journal or () if isinstance(each.action, Note) and each.action.kind == kind
    ]


def letters(task: str, state: str) -> list[str]:
    """Propose letters in order."""
    return ["a", "b", "c"]


def search(**options: Any) -> TreeOfThoughts:
    return TreeOfThoughts(**{"propose": letters, "answer": lambda _, state: state, **options})


def test_breadth_first_search_keeps_the_best_of_each_level() -> None:
    """One call proposes, three judge each candidate, the best go on; the answer is written from the best state."""
    likely, sure, no = ["likely"] * 3, ["sure"] * 3, ["impossible"] * 3
    talk = play(
        TreeOfThoughts(depth=2, beam=1),
        "Go.",
        ["1. left\n2. right\n\n- on", *likely, *sure, *no, "up\ndown", *no, *likely, "arrived"],
    )
    assert kept(talk.result) == [(["right\n"], [60.0]), (["right\ndown\n"], [3.0])]
    assert talk.result.answer == "arrived"
    contents = [each[-1]["content"] for each in talk.asked]
    assert "Steps so far:\n(nothing yet)\n\nPropose up to 10 different next steps" in contents[0]
    assert "A partial solution:\nright\n" in contents[4]
    assert "Steps so far:\nright\n" in contents[10]
    assert "The steps of a solution:\nright\ndown\n" in contents[-1]
    assert [step.phase for step in talk.result.steps] == [
        "propose", *["evaluate"] * 9, "propose", *["evaluate"] * 6, "answer",
    ]  # fmt: skip


def test_of_equal_candidates_the_earlier_ones_are_kept() -> None:
    """In the order of their parents, and below each in that of the proposals."""
    result = search(depth=2, beam=2, evaluate=lambda *_: 1).run("t")
    assert kept(result) == [(["a\n", "b\n"], [1.0, 1.0]), (["a\na\n", "a\nb\n"], [1.0, 1.0])]
    assert result.answer == "a\na\n"


@pytest.mark.parametrize(("value", "least"), [(2.0, 0.0), (-3.0, -3.0)])
def test_a_candidate_that_is_there_twice_is_valued_once(value: float, least: float) -> None:
    """The second counts 0, or as little as the least: it never goes before the first."""
    valued: list[str] = []

    def evaluate(task: str, state: str) -> float:
        valued.append(state)
        return value

    result = search(depth=1, beam=5, propose=lambda *_: ["a", "a", "b"], evaluate=evaluate).run("t")
    assert valued == ["a\n", "b\n"]
    last = ["a\n", "b\n", "a\n"] if least == 0 else ["a\n", "a\n", "b\n"]
    assert kept(result) == [(last, sorted([value, value, least], reverse=True))]


def test_judgements_are_read_from_the_last_line_and_what_cannot_be_read_counts_nothing() -> None:
    """A word in the reasons is no judgement, nor is one with something before it."""
    said = ["It looks sure.\nlikely", "**Impossible**", "Judgement: sure.", "I am not sure", "likely, I think", ""]
    result = play(search(depth=1, samples=6, propose=lambda *_: ["a"], evaluate="value"), "t", said).result
    assert kept(result) == [(["a\n"], [0.001 + 1.0 + 20.0])]
    assert notes(result, "fallback") == ["3 of 6 judgements cannot be read and count nothing"]


def test_votes_choose_among_all_candidates() -> None:
    """A state is worth the votes for it; a vote for none is told."""
    script = ["The best choice is 2", "The best choice is **Choice 3**.", "hm", "the best choice is: 2"]
    talk = play(search(depth=1, samples=4, evaluate="vote"), "t", script)
    assert kept(talk.result) == [(["b\n", "c\n", "a\n"], [2.0, 1.0, 0.0])]
    assert "Choice 1:\na\n\n\nChoice 2:\nb\n" in talk.asked[0][-1]["content"]
    assert notes(talk.result, "fallback") == ["1 of 4 votes cannot be read"]


def test_thoughts_may_be_sampled_one_by_one() -> None:
    """``branching`` replies, each a whole thought; empty ones and ones cut off are none."""
    script = ["first\nplan", says("cut", finish_reason="length"), "", "second"]
    agent = TreeOfThoughts(
        propose="sample", branching=4, depth=1, evaluate=lambda _, state: len(state), answer=lambda _, state: state
    )
    assert kept(play(agent, "t", script).result) == [(["first\nplan\n", "second\n"], [11.0, 7.0])]


def test_what_was_cut_off_of_the_proposals_is_no_thought() -> None:
    """The last line of such a reply has no end; and no more are taken than ``branching``."""
    agent = TreeOfThoughts(branching=2, depth=1, evaluate=lambda *_: 1, answer=lambda _, state: state)
    assert kept(play(agent, "t", [says("a\nb", finish_reason="length")]).result)[0][0] == ["a\n"]
    assert kept(play(agent, "t", ["a\nb\nc"]).result)[0][0] == ["a\n", "b\n"]


def test_a_solution_ends_the_search() -> None:
    """Where ``is_solution`` says so; where it never does, the run has failed, and shows the best state."""
    result = search(depth=9, evaluate=lambda _, s: s.count("b"), is_solution=lambda _, s: s == "b\nb\n").run("t")
    assert (result.answer, len(kept(result))) == ("b\nb\n", 2)
    result = search(depth=1, evaluate=lambda *_: 1, is_solution=lambda *_: False).run("t")
    assert (result.ok, result.answer, result.error) == (False, "a\n", "no state of the last level is a solution")


def test_depth_first_search_prunes_and_steps_back() -> None:
    """Children are visited from the best to the worst; those at or below the threshold never are."""
    visited: list[str] = []

    def solves(task: str, state: str) -> bool:
        visited.append(state.replace("\n", ""))
        return state == "b\nc\n"

    worth = {"a": 2.0, "b": 1.0, "c": 0.0}
    result = search(
        search="dfs", depth=2, threshold=0.0, is_solution=solves, evaluate=lambda _, state: worth[state[-2]]
    ).run("t")
    assert visited == ["a", "aa", "ab", "b", "ba", "bb"]
    assert (result.ok, result.answer) == (False, "a\na\n")
    assert result.error == "no solution among 6 states; all others were pruned"
    assert notes(result, "pruned") == ["1 of 3"] * 3
    assert notes(result, "backtrack") == ["a\na\n", "a\nb\n", "b\na\n", "b\nb\n"]
    visited.clear()
    again = search(
        search="dfs", depth=2, threshold=-1.0, is_solution=solves, evaluate=lambda _, state: worth[state[-2]]
    ).run("t")
    assert (again.answer, visited) == ("b\nc\n", ["a", "aa", "ab", "ac", "b", "ba", "bb", "bc"])


def test_depth_first_search_visits_a_bounded_number_of_states() -> None:
    """And says how many were ahead."""
    result = search(search="dfs", depth=50, max_states=4, is_solution=lambda *_: False, evaluate=lambda *_: 1).run("t")
    assert result.error == "no solution among 4 states; 8 more were ahead"
    assert result.answer == "a\n" * 4


def test_without_a_test_for_solutions_the_first_full_depth_counts() -> None:
    """Depth-first search takes the first state at depth T."""
    assert search(search="dfs", depth=3, evaluate=lambda _, s: -s.count("a"), threshold=-9).run("t").answer == "b\n" * 3


def test_functions_may_be_policies() -> None:
    """They ask the model themselves, all candidates of a level in one batch."""

    def propose(task: str, state: str) -> Any:
        reply = yield from ask([{"role": "user", "content": f"propose {state}"}])
        return reply.text.split()

    def evaluate(task: str, state: str) -> Any:
        yield from note("looked", state)
        reply = yield from ask([{"role": "user", "content": f"rate {state}"}])
        return float(reply.text)

    talk = play(search(propose=propose, evaluate=evaluate, depth=1), "t", ["x y", "1", "2"])
    assert kept(talk.result) == [(["y\n", "x\n"], [2.0, 1.0])]
    assert notes(talk.result, "looked") == ["x\n", "y\n"]


def test_workers_change_nothing_but_the_time() -> None:
    """The journal is the same with one worker and with eight."""

    def model(messages: Any, **_: Any) -> str:
        text = str(messages[-1]["content"])
        return "a\nb\nc" if "Propose" in text else ("sure", "likely", "impossible")[len(text) % 3]

    runs = [TreeOfThoughts(ScriptedProvider(model)).run("t", max_workers=workers) for workers in (1, 8)]
    journals = [[(each.digest, each.outcome) for each in run.journal or ()] for run in runs]
    assert journals[0] == journals[1]
    assert runs[0].report.model_calls == (1 + 3 * 3) + (3 + 9 * 3) + (5 + 15 * 3) + 1


def test_nothing_to_go_on_with_is_a_failure() -> None:
    """No thought at the root; a value that is not a number is worth nothing."""
    result = search(propose=lambda *_: []).run("t")
    assert (result.ok, result.error) == (False, "no thought was proposed")
    result = search(propose=lambda *_: [], search="dfs", evaluate="vote").run("t")
    assert (result.report.model_calls, result.error) == (0, "no solution among 0 states; all others were pruned")
    result = search(depth=1, evaluate=lambda _, state: float("nan") if state == "a\n" else 0.5).run("t")
    assert kept(result)[0][0] == ["b\n", "c\n", "a\n"]
    assert search(depth=1, evaluate=lambda *_: 1, answer=lambda *_: " ").run("t").error == (
        "answer returned an empty text"
    )


def test_what_cannot_be_used_is_refused() -> None:
    """At once, or, for what a function returns, when it does."""
    for name, known in (
        ("search", "'bfs', 'dfs'"),
        ("propose", "'sample' or a function"),
        ("evaluate", "'vote' or a fu"),
    ):
        with pytest.raises(ConfigurationError, match=f"TreeOfThoughts: {name} is .*{known}.*, not 'best'"):
            TreeOfThoughts(**{name: "best"})  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="beam must be at least 1"):
        TreeOfThoughts(beam=0)
    with pytest.raises(WrongType, match="is_solution must be callable"):
        TreeOfThoughts(is_solution=True)  # type: ignore[arg-type]
    with pytest.raises(WrongType, match="threshold must be a number, not nan"):
        TreeOfThoughts(threshold=float("nan"))
    with pytest.raises(WrongType, match="evaluate must return a number, not str"):
        search(evaluate=lambda *_: "high").run("t")
    with pytest.raises(WrongType, match="propose must return a list of texts, not 'abc'"):
        search(propose=lambda *_: "abc").run("t")
