"""Recorded ReAct episodes: claims of FEVER, and questions of HotpotQA with and without Reflexion."""

from __future__ import annotations

import re
import string
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from benchmarks.replay import Kind, Report, Row
from brain.messages import Message
from brain.patterns import ReActAgent, Reflexion
from brain.policy import Note
from brain.types import PatternResult, Reply

__all__ = ["FEVER", "HOTPOTQA", "Recorded", "exact_match"]

FEVER_STEPS, HOTPOTQA_STEPS = 7, 6
"""How many turns an episode may have, in the authors' code."""


class Recorded:
    """The model and the tools of recorded episodes of one task, which are held against what the library asks.

    Args:
        task: the task.
        trials: the turns of each episode, in order.
        memories: what each episode is given of earlier ones, as recorded.
    """

    def __init__(self, task: str, trials: Sequence[list[Row]], memories: Sequence[str] = ("",)) -> None:
        self.task, self.trials, self.memories = task, trials, memories
        self.trial = self.turn = self.acted = 0
        self.so_far = ""
        self.differences: list[str] = []
        self.own_words = 0
        """Turns whose action is no call of a tool there is: the library says so in words of its own."""

    @property
    def tools(self) -> dict[str, Any]:
        """The tools of the episodes."""
        return {name: self._tool(name) for name in ("Search", "Lookup")}

    def generate(self, messages: Sequence[Message], *_: Any, **__: Any) -> Reply:
        """Say what the record has next, if it is what is asked for."""
        asked = str(messages[-1]["content"])
        turns = self.trials[self.trial]
        if len(messages) != 1 or messages[0]["role"] != "user":
            self._differs("the request is not one message of the user")
        if not re.search(r"^Thought \d+:\Z", asked, re.MULTILINE):
            return Reply(self._reflection(asked))
        if self.turn == len(turns):
            self._differs("another turn is asked for than the record has")
            return Reply("")
        if self.turn == 0 and (self.task not in asked or _plain(self.memories[self.trial]) not in _plain(asked)):
            self._differs("the task or what was learnt is not in the request")
        if not asked.endswith(f"\n{self.so_far}Thought {self.turn + 1}:"):
            self._differs(f"the request does not end with the turns so far: {asked[-200:]!r}")
        turn = turns[self.turn]
        self.turn += 1
        self._note_down(turn)
        return Reply(f" {turn['thought']}\nAction {self.turn}: {turn['action']}")

    def _note_down(self, turn: Row) -> None:
        """Work out what the next request has to end with."""
        called = re.fullmatch(r"(\w+)\[(.*)\]", turn["action"])
        seen = turn["observation"]
        if called is None:
            seen = f"Invalid action: {turn['action'].strip()}"
        elif called[1] not in ("Search", "Lookup", "Finish"):
            seen = f"Unknown tool '{called[1]}'. Available: Search, Lookup"
        self.own_words += seen != turn["observation"]
        self.acted += called is not None and called[1] in ("Search", "Lookup")
        number = self.turn
        self.so_far += f"Thought {number}: {turn['thought']}\nAction {number}: {turn['action']}\n"
        self.so_far += f"Observation {number}: {seen}\n"

    def _tool(self, name: str) -> Any:
        def look(given: str) -> str:
            """Return what the record has."""
            turn = self.trials[self.trial][self.turn - 1]
            self.acted -= 1
            if turn["action"] != f"{name}[{given}]":
                self._differs(f"{name}[{given}] is called instead of {turn['action']}")
            return str(turn["observation"])

        return look

    def _reflection(self, asked: str) -> str:
        """Say what was written down after an episode, and go on to the next."""
        if self.turn < len(self.trials[self.trial]) or self.trial + 1 == len(self.trials):
            self._differs(f"a reflection is asked for: {asked[:100]!r}")
            return "no such reflection"
        self.end_of_trial()
        before, after = self.memories[self.trial : self.trial + 2]
        self.trial, self.turn, self.so_far = self.trial + 1, 0, ""
        return after[len(before) :].strip().removeprefix("- ")

    def end_of_trial(self) -> None:
        """Check that all of an episode has happened."""
        if self.turn < len(self.trials[self.trial]) or self.acted:
            self._differs(f"the episode ends after {self.turn} turns")
        self.acted = 0

    def _differs(self, what: str) -> None:
        where = f"trial {self.trial + 1}, turn {self.turn + 1}"
        self.differences.append(f"{self.task[:60]!r}, {where}: {what}")


def exact_match(answer: str, gold: str) -> bool:
    """Compare answers as the benchmarks do: without case, punctuation, articles and extra white space."""
    return _normal(answer) == _normal(gold)


def _normal(text: str) -> str:
    bare = "".join(each for each in text.lower() if each not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def _plain(text: str) -> str:
    return " ".join(text.split())


def _episode(task: str, turns: list[Row], max_steps: int, report: Report) -> PatternResult:
    """Replay one episode and check its end."""
    recorded = Recorded(task, [turns])
    result = ReActAgent(recorded.tools, recorded, max_steps, dialect="paper", system_prompt="Solve the task.").run(task)
    recorded.end_of_trial()
    finish = re.fullmatch(r"Finish\[(.*)\]", turns[-1]["action"])
    expected = (True, finish[1]) if finish is not None else (False, "")
    if (result.ok, result.answer) != expected:
        recorded._differs(f"it ends with {(result.ok, result.answer)} instead of {expected}")
    report.differences += recorded.differences
    report.counts["identical"] += not recorded.differences
    report.counts["turns"] += len(turns)
    if recorded.own_words:
        report.cannot_show[_OWN_WORDS] += recorded.own_words
    return result


_OWN_WORDS = "how the library words it that an action is no call of a tool; it uses its own words (turns)"


def _fever(rows: list[Row], report: Report) -> None:
    """ReAct on FEVER: 500 claims."""
    right: Counter[str] = Counter()
    by_gold: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        result = _episode(row["task"], row["turns"], FEVER_STEPS, report)
        matched = exact_match(result.answer, row["gold"])
        if (matched, result.answer) != (bool(row["em"]), row["answer"]):
            report.differences.append(f"{row['task']!r}: answered {result.answer!r}, recorded {row['answer']!r}")
        counted = by_gold[row["gold"]]
        counted.update(claims=1, right=matched, unanswered=not result.ok)
        right["right"] += matched
    report.table = [("gold", "claims", "right", "out of steps")]
    report.table += [
        (gold, each["claims"], each["right"], each["unanswered"]) for gold, each in sorted(by_gold.items())
    ]
    report.counts.update(episodes=len(rows), right=right["right"])
    count, share = right["right"], right["right"] / len(rows)
    report.figures = (
        f"FEVER, ReAct: {report.counts['identical']} of {len(rows)} episodes identical turn by turn; "
        f"exact match {count}/{len(rows)} = {share:.1%}".replace("%", " %")
    )


def _hotpotqa(rows: list[Row], report: Report) -> None:
    """ReAct on HotpotQA, tried again without reflection, or through Reflexion where there are reflections."""
    (_with_reflexion if any(row["reflections"] for row in rows) else _tried_again)(rows, report)


def _tried_again(rows: list[Row], report: Report) -> None:
    by_trial: dict[int, Counter[str]] = defaultdict(Counter)
    counted: dict[tuple[int, str], Row] = {}
    for row in rows:
        limit = len(row["turns"]) if row["outcome"] == "halted" else HOTPOTQA_STEPS
        result = _episode(row["question"], row["turns"], limit, report)
        outcome = _outcome(result.ok, result.answer, row["gold"])
        if outcome != row["outcome"]:
            if (row["outcome"], outcome) == ("halted", "incorrect") and len(row["turns"]) == HOTPOTQA_STEPS:
                report.cannot_show["why an episode that answers with its last step is listed as halted"] += 1
            else:
                report.differences.append(f"{row['question']!r}: {outcome}, recorded {row['outcome']}")
        by_trial[row["trial"]].update(["listed"])
        first = counted.setdefault((row["trial"], row["question"]), row)
        if first is row:
            by_trial[row["trial"]].update([outcome])
        elif first["turns"] == row["turns"]:
            report.cannot_show["why an episode is listed twice, as incorrect and as halted; it counts once"] += 1
        else:
            report.differences.append(f"{row['question']!r} is listed twice in a trial, with different turns")
    _tabulate(by_trial, rows, report)
    correct = [each["correct"] for _, each in sorted(by_trial.items())]
    report.counts.update(episodes=len(rows))
    report.figures = (
        f"HotpotQA, ReAct tried again: {report.counts['identical']} of {len(rows)} listed episodes identical; "
        f"correct per trial {', '.join(map(str, correct))}"
    )


def _tabulate(by_trial: dict[int, Counter[str]], rows: list[Row], report: Report) -> None:
    report.table = [("trial", "correct", "incorrect", "halted", "listed", "the log's own header")]
    heads = {row["trial"]: _head(row.get("trial_summary")) for row in rows}
    for trial, each in sorted(by_trial.items()):
        counted = (each["correct"], each["incorrect"], each["halted"], each["listed"])
        report.table.append((trial, *counted, heads[trial]))
        if heads[trial] != "/".join(map(str, counted[:3])):
            report.cannot_show["why a trial's own header does not count what is listed"] += 1


def _head(summary: Any) -> str:
    return "/".join(map(str, summary)) if isinstance(summary, list) else "not recorded"


def _outcome(ok: bool, answer: str, gold: str) -> str:
    return "halted" if not ok else "correct" if exact_match(answer, gold) else "incorrect"


def _with_reflexion(rows: list[Row], report: Report) -> None:
    by_trial: dict[int, Counter[str]] = defaultdict(Counter)
    questions: dict[str, list[Row]] = defaultdict(list)
    for row in rows:  # the log spells a question in two ways at times
        questions[re.sub(r"\W+", "", row["question"].lower())].append(row)
    trials = max(row["trial"] for row in rows)
    for listed in questions.values():
        solved = next((row for row in listed if row["outcome"] == "correct"), None)
        for row in listed if solved is None else listed[listed.index(solved) + 1 :]:
            if solved is not None and (row["turns"], row["outcome"]) == (solved["turns"], "correct"):
                report.counts["carried over"] += 1  # a question that was answered is not asked again
                by_trial[row["trial"]].update(["correct", "listed"])
        tried = listed if solved is None else listed[: listed.index(solved) + 1]
        for segment in _segments(tried, report):
            _reflect(segment, by_trial, report)
        gone = trials - len(listed)
        if gone:
            report.cannot_show["trials that are not listed"] += gone
    _tabulate(by_trial, rows, report)
    correct = [each["correct"] for _, each in sorted(by_trial.items())]
    same = report.counts["identical"] + report.counts["carried over"]
    report.counts.update(episodes=len(rows))
    report.figures = (
        f"HotpotQA, Reflexion: {same} of {len(rows)} listed episodes identical "
        f"({report.counts['carried over']} of them carried over), {report.counts['reflections']} reflections; "
        f"correct per trial {', '.join(map(str, correct))}"
    )


def _segments(tried: list[Row], report: Report) -> Iterator[list[Row]]:
    """Divide the trials of a question where the record does not hold what is between two of them."""
    segment = tried[:1]
    for before, row in pairwise(tried):
        grown = row["reflections"][len(before["reflections"]) :].strip()
        missing = ""
        if row["trial"] != before["trial"] + 1:
            missing = "what was learnt in a trial that is not listed"
        elif not row["reflections"].startswith(before["reflections"]) or not grown.startswith("- "):
            missing = "a reflection, as it is not in the log or cut there; the next trial is given what is"
        elif _cut_short(before):
            missing = "why an episode halted before its last step"
        if missing:
            report.cannot_show[missing] += 1
            yield segment
            segment = []
        segment.append(row)
    yield segment


def _cut_short(row: Row) -> bool:
    return row["outcome"] == "halted" and len(row["turns"]) < HOTPOTQA_STEPS


def _reflect(segment: list[Row], by_trial: dict[int, Counter[str]], report: Report) -> None:
    """Replay trials of a question through ``Reflexion``."""
    first = segment[0]
    recorded = Recorded(first["question"], [row["turns"] for row in segment], [row["reflections"] for row in segment])
    limit = len(first["turns"]) if _cut_short(first) else HOTPOTQA_STEPS
    actor = ReActAgent(recorded.tools, max_steps=limit, dialect="paper", system_prompt="Answer the question.")
    agent = Reflexion(
        actor,
        recorded,
        evaluator=lambda _, answer: exact_match(answer, first["gold"]),
        max_trials=len(segment),
        memory_size=len(segment) + 1,
        reflections=[first["reflections"].removeprefix("- ")] if first["reflections"] else [],
    )
    result = agent.run(first["question"])
    recorded.end_of_trial()
    assert result.journal is not None
    noted = [entry.action for entry in result.journal if isinstance(entry.action, Note)]
    failed = [(note.data or {}).get("answer", "") for note in noted if note.kind == "failed"]
    outcomes = ["incorrect" if answer else "halted" for answer in failed]
    outcomes += ["correct"] if result.ok and exact_match(result.answer, first["gold"]) else []
    if outcomes != [row["outcome"] for row in segment]:
        recorded._differs(f"the trials are {outcomes}, recorded {[row['outcome'] for row in segment]}")
    report.differences += recorded.differences
    report.counts["identical"] += 0 if recorded.differences else len(segment)
    report.counts["reflections"] += recorded.trial
    report.counts["turns"] += sum(len(row["turns"]) for row in segment)
    if recorded.own_words:
        report.cannot_show[_OWN_WORDS] += recorded.own_words
    for row, outcome in zip(segment, outcomes, strict=False):
        by_trial[row["trial"]].update([outcome, "listed"])


def _problem(row: Row) -> str:
    """Say what the turns of a row lack."""
    turns = row["turns"]
    if not isinstance(turns, list) or not turns:
        return "an episode without turns"
    for name in ("thought", "action", "observation"):
        if not all(isinstance(turn, dict) and isinstance(turn.get(name), str) for turn in turns):
            return f"an episode with a turn without {name}"
    texts = [name for name in ("task", "question", "answer", "gold", "reflections", "outcome") if name in row]
    lacking = [name for name in texts if not isinstance(row[name], str)]
    if "trial" in row and type(row["trial"]) is not int:
        return "a row whose trial is no number"
    return f"a row whose {lacking[0]} is no text" if lacking else ""


FEVER = Kind(frozenset({"task", "turns", "answer", "gold", "em"}), _problem, _fever)
HOTPOTQA = Kind(frozenset({"trial", "outcome", "question", "reflections", "turns", "gold"}), _problem, _hotpotqa)
