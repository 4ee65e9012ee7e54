"""Published runs, replayed through the library, give the published figures.

The records are not part of the project; where they are absent these tests are skipped, but for those of the replay
itself.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.replay import main, replay
from benchmarks.replay_game24 import makes_24
from benchmarks.replay_react import exact_match

RECORDS = Path(__file__).parents[2] / "shared" / "trajectories"
published = pytest.mark.skipif(not RECORDS.is_dir(), reason="the records are not here (../shared/trajectories)")

CLAIM = {
    "task": "Claim: Lyon lies on the Rhône.",
    "turns": [
        {"thought": "I search.", "action": "Search[Lyon]", "observation": "Lyon is a city on the Rhône."},
        {"thought": "I go on.", "action": "Visit", "observation": "Invalid action: visit"},
        {"thought": "It does.", "action": "Finish[SUPPORTS]", "observation": "Episode finished, reward = 1"},
    ],
    "answer": "SUPPORTS",
    "gold": "SUPPORTS",
    "em": 1,
}


def written(folder: Path, *rows: Any) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def changed(turn: int, **fields: Any) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(json.dumps(CLAIM))
    row["turns"][turn].update(fields)
    return row


@published
def test_react_on_fever_is_the_published_run() -> None:
    """Each of 500 episodes is identical turn by turn; 270 answers match (54.0 %)."""
    report = replay(RECORDS / "fever_react.jsonl")
    assert report.differences == []
    assert (report.counts["episodes"], report.counts["identical"], report.counts["right"]) == (500, 500, 270)
    assert report.figures.endswith("exact match 270/500 = 54.0 %")


@published
def test_react_tried_again_on_hotpotqa_is_the_published_run() -> None:
    """34 questions are answered right in each of five trials; the table is that of the log."""
    report = replay(RECORDS / "hotpotqa_react_base.jsonl")
    assert report.differences == []
    assert (report.counts["episodes"], report.counts["identical"]) == (512, 512)
    assert report.table[1] == (1, 34, 56, 10, 103, "34/56/10")
    assert [row[1] for row in report.table[1:]] == [34, 34, 34, 34, 34]


@published
def test_reflexion_on_hotpotqa_is_the_published_run() -> None:
    """With the recorded reflections as the model's replies, 32, 42, 48, 50 and 51 questions are answered right."""
    report = replay(RECORDS / "hotpotqa_react_reflexion.jsonl")
    assert report.differences == []
    assert report.counts["identical"] + report.counts["carried over"] == 498
    assert report.counts["reflections"] == 213
    assert [row[1:4] for row in report.table[1:]] == [
        (32, 51, 17),
        (42, 43, 14),
        (48, 41, 11),
        (50, 39, 11),
        (51, 35, 13),
    ]


@published
def test_tree_of_thoughts_on_the_game_of_24_is_the_published_run() -> None:
    """All steps keep the recorded five states, ties included; 69 of 100 puzzles are solved."""
    report = replay(RECORDS / "game24_tot.jsonl")
    counts = report.counts
    assert report.differences == []
    assert (counts["levels"], counts["solved"], counts["ties"]) == (400, 69, 306)
    assert counts["proposals"] == 16 * 100  # 1 at the root, then 5 at each of three steps
    assert counts["calls"] == counts["proposals"] + 3 * 8_397  # three judgements for each distinct candidate


def test_an_episode_is_replayed_turn_by_turn(tmp_path: Path) -> None:
    """An action that is none is worded by the library, which is said."""
    report = replay(written(tmp_path, CLAIM))
    assert report.differences == []
    assert report.figures == ("FEVER, ReAct: 1 of 1 episodes identical turn by turn; exact match 1/1 = 100.0 %")
    assert list(report.cannot_show.values()) == [1]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({**CLAIM, "answer": "REFUTES"}, "answered 'SUPPORTS', recorded 'REFUTES'"),
        ({**CLAIM, "em": 0}, "answered 'SUPPORTS'"),
        ({**CLAIM, "turns": CLAIM["turns"][:2]}, "another turn is asked for than the record has"),
        (changed(0, action="Finish[SUPPORTS]"), "the episode ends after 1 turns"),
        (changed(0, thought="I search.\nAction 1: Search[Paris]"), "Search[Paris] is called instead of Search[Lyon]"),
    ],
)
def test_what_differs_is_told(row: dict[str, Any], told: str, tmp_path: Path, capsys: Any) -> None:
    """A record that the library does not follow fails the replay."""
    path = written(tmp_path, row)
    assert any(told in each for each in replay(path).differences)
    assert main([str(path)]) == 1
    assert "differs: " in capsys.readouterr().out


def test_what_a_record_lacks_is_counted_and_named(tmp_path: Path) -> None:
    """A broken line, a missing field, an empty episode: the others are replayed."""
    gone = {key: value for key, value in CLAIM.items() if key != "gold"}
    turn = {"thought": "t", "action": "Search[a]"}
    rows = [CLAIM, json.dumps(CLAIM)[:50], "3", gone, {**CLAIM, "turns": [turn]}, {**CLAIM, "turns": []}]
    report = replay(written(tmp_path, *rows))
    assert report.differences == []
    assert "1 of 1 episodes" in report.figures
    assert {
        "line 2, which is no JSON": 1,
        "line 3, which is no object": 1,
        "a row without gold": 1,
        "an episode with a turn without observation": 1,
        "an episode without turns": 1,
    }.items() <= report.cannot_show.items()


def test_a_search_whose_record_was_changed_differs(tmp_path: Path) -> None:
    """The states kept are those that the values say, the earlier of equals; another choice is noticed."""
    step = {"step": 0, "ys": [""], "new_ys": [f"{each}\n" for each in "abcdefg"], "values": [1.0] * 6 + [2.0]}
    kept = ["g\n", "a\n", "b\n", "c\n", "d\n"]
    row = {"x": "1 2 3 4", "steps": [{**step, "select_new_ys": kept}], "ys": kept, "infos": [{"r": 0}] * 5}
    report = replay(written(tmp_path, row))
    assert report.differences == []
    assert (report.counts["calls"], report.counts["ties"]) == (1 + 3 * 7, 1)
    row["steps"][0]["select_new_ys"] = ["g\n", "b\n", "a\n", "c\n", "d\n"]  # type: ignore[index]
    assert "the states kept at step 0 are not the recorded ones" in replay(written(tmp_path, row)).differences[0]


def test_a_file_of_no_known_kind_is_refused(tmp_path: Path, capsys: Any) -> None:
    """With the kinds there are."""
    assert main([str(written(tmp_path, {"a": 1}))]) == 2
    assert "no row can be replayed; the kinds have the fields answer, em, gold" in capsys.readouterr().err


def test_answers_match_as_the_benchmarks_have_it() -> None:
    """Without case, punctuation and articles."""
    assert exact_match("The Eiffel Tower.", "eiffel tower")
    assert not exact_match("no", "yes")
    assert makes_24("4 + 5 = 9\nAnswer: (4 * 5) + (10 - 6) = 24\n", "4 5 6 10")
    assert not makes_24("Answer: 4 * 6 = 24\n", "4 5 6 10")
    assert not makes_24("Answer: (4 * 5) + 10 - __import__('os') + 6\n", "4 5 6 10")
