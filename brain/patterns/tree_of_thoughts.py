"""Tree of Thoughts: search over partial solutions (Yao et al., 2023, https://arxiv.org/abs/2305.10601).

    breadth-first (Algorithm 1)                     depth-first (Algorithm 2), from s = x

    S <- {x}                                        for each thought z of k proposed for s, the best first
    for t = 1 .. T                                      if V(s + z) > threshold:  descend into s + z
        S' <- every s in S with each of k thoughts      (otherwise it is pruned with all below it)
        V  <- the value of each s' in S'            record the state at depth T, and step back
        S  <- the b best of S'
    return the answer written from the best of S

Ties are broken as in the authors' code: candidates stand in the order of their parents and, below each, in that
of the proposals; the sort by value is stable. A candidate that is there twice is valued once, and the second time
counts 0 (or as little as the least, if that is below).

Differs from the paper: depth-first search ends at the first solution; blank lines and numbering are no part of a
thought; a value that cannot be read is worth nothing, which the record says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from brain.errors import ConfigurationError, WrongType, whole_number
from brain.messages import Transcript
from brain.patterns.base import BasePattern
from brain.patterns.parts import call, request, write
from brain.patterns.tree_text import (
    ANSWER,
    PROPOSE,
    SAMPLE,
    VALUE,
    VALUES,
    VOTE,
    read_judgement,
    read_thoughts,
    read_vote,
)
from brain.policy import Finish, Policy, ask, note, together
from brain.types import LLMProvider

__all__ = ["TreeOfThoughts"]


class TreeOfThoughts(BasePattern):
    """A search among partial solutions that the model proposes and values itself.

    A state is a text: the thoughts so far, each ended by a line break; ``""`` at the root. ``propose``, ``evaluate``,
    ``is_solution`` and ``answer`` may be functions, or functions that return policies; they are called again when a
    run is resumed. With ``run(task, max_workers=8)`` all states of a level are worked on at the same time.

    Args:
        provider: the model to ask.
        tools: what policies given here may call; the model itself calls none.
        search: ``"bfs"`` or ``"dfs"``.
        depth: how many thoughts make a solution (T); 3 in the paper's Game of 24.
        beam: how many states breadth-first search keeps at each level (b); 5 in the paper.
        branching: how many thoughts are taken from a state at most (k).
        propose: ``"propose"`` asks once for different next thoughts, ``"sample"`` asks ``branching`` times for one; or
            ``propose(task, state)`` returns a list of thoughts.
        evaluate: ``"value"`` judges each state by itself, ``"vote"`` lets votes choose among all; or
            ``evaluate(task, state)`` returns a number.
        samples: how many judgements a state gets, or how many votes are cast; 3 in the paper's Game of 24.
        threshold: states worth no more than this are pruned by depth-first search; by default those that no
            judgement holds for possible.
        max_states: how many states depth-first search visits at most; 100 in the paper's crosswords.
        is_solution: ``is_solution(task, state)`` ends the search at a state that is one.
        answer: ``answer(task, state)`` returns the answer; by default the model writes it from the state.
        system_prompt: shown before every request.
    """

    def __init__(
        self,
        provider: LLMProvider | None = None,
        *,
        tools: Any = None,
        search: Literal["bfs", "dfs"] = "bfs",
        depth: int = 3,
        beam: int = 5,
        branching: int = 10,
        propose: str | Callable[[str, str], Any] = "propose",
        evaluate: str | Callable[[str, str], Any] = "value",
        samples: int = 3,
        threshold: float = 0.5,
        max_states: int = 100,
        is_solution: Callable[[str, str], Any] | None = None,
        answer: Callable[[str, str], Any] | None = None,
        system_prompt: str = "",
    ) -> None:
        super().__init__(tools, provider)
        for name, value, known in (
            ("search", search, ("bfs", "dfs")),
            ("propose", propose, ("propose", "sample")),
            ("evaluate", evaluate, ("value", "vote")),
        ):
            if value not in known and (name == "search" or not callable(value)):
                also = "" if name == "search" else " or a function"
                raise ConfigurationError(
                    f"TreeOfThoughts: {name} is {known[0]!r}, {known[1]!r}{also}, not {value!r:.80}"
                )
        for name, function in (("is_solution", is_solution), ("answer", answer)):
            if function is not None and not callable(function):
                raise WrongType(f"TreeOfThoughts: {name} must be callable, not {type(function).__name__}")
        for name, number in (("depth", depth), ("beam", beam), ("branching", branching), ("samples", samples)):
            whole_number("TreeOfThoughts", name, number)
        limit: Any = threshold
        if not isinstance(limit, int | float) or limit != limit:
            raise WrongType(f"TreeOfThoughts: threshold must be a number, not {limit!r:.80}")
        self.search, self.depth, self.beam, self.branching = search, depth, beam, branching
        self.propose, self.evaluate, self.samples, self.threshold = propose, evaluate, samples, threshold
        self.max_states = whole_number("TreeOfThoughts", "max_states", max_states)
        self.is_solution, self.answer, self.system_prompt = is_solution, answer, system_prompt

    def policy(self, task: str) -> Policy[Finish]:
        """Search, then write the answer from the best state."""
        search = self._bfs(task) if self.search == "bfs" else self._dfs(task)
        state, problem = yield from search
        if problem:
            return Finish(state, ok=False, error=problem)
        if self.answer is None:
            return Finish((yield from write(self._about(ANSWER, task, state), "answer")))
        text = str((yield from call(self.answer, task, state)))
        return Finish(text) if text.strip() else Finish("", ok=False, error="answer returned an empty text")

    def _bfs(self, task: str) -> Policy[tuple[str, str]]:
        """Return the best state of the last level, and what is wrong with it."""
        states = [""]
        for step in range(self.depth):
            proposed = yield from together(*(self._propose(task, state) for state in states))
            candidates = [candidate for each in proposed for candidate in each]
            if not candidates:
                break
            values = yield from self._evaluate(task, candidates)
            best = sorted(range(len(candidates)), key=values.__getitem__, reverse=True)[: self.beam]
            states = [candidates[index] for index in best]
            kept = {"states": states, "values": [values[index] for index in best]}
            yield from note("kept", f"step {step}: {len(states)} of {len(candidates)}", data=kept)
            for state in states:
                if (yield from self._solves(task, state)):
                    return state, ""
        if not states[0]:
            return "", "no thought was proposed"
        return states[0], "" if self.is_solution is None else "no state of the last level is a solution"

    def _dfs(self, task: str) -> Policy[tuple[str, str]]:
        """Return the first solution, or the deepest state and that it is none."""
        deepest, most, visited = "", 0, 0
        ahead = [("", 0)]  # the states to visit, the next one last
        while ahead and visited < self.max_states:
            state, depth = ahead.pop()
            visited += bool(state)
            if depth > most:
                deepest, most = state, depth
            if state and (yield from self._solves(task, state)):
                return state, ""
            if depth == self.depth:
                if self.is_solution is None:
                    return state, ""
                yield from note("backtrack", state)
                continue
            if visited == self.max_states:
                break
            candidates = yield from self._propose(task, state)
            values = yield from self._evaluate(task, candidates)
            best = sorted(range(len(candidates)), key=values.__getitem__, reverse=True)
            good = [candidates[index] for index in best if values[index] > self.threshold]
            if len(good) < len(candidates):
                yield from note("pruned", f"{len(candidates) - len(good)} of {len(candidates)}", data={"below": state})
            ahead += [(each, depth + 1) for each in reversed(good)]
        left = f"{len(ahead)} more were ahead" if ahead else "all others were pruned"
        return deepest, f"no solution among {visited} states; {left}"

    def _propose(self, task: str, state: str) -> Policy[list[str]]:
        """Return the states that follow from a state."""
        if not isinstance(self.propose, str):
            thoughts = yield from call(self.propose, task, state)
            if not isinstance(thoughts, list) or not all(isinstance(each, str) for each in thoughts):
                raise WrongType(f"TreeOfThoughts: propose must return a list of texts, not {thoughts!r:.80}")
        elif self.propose == "sample":
            asked = self._about(SAMPLE, task, state)
            replies = yield from together(*(ask(asked, phase="propose") for _ in range(self.branching)))
            thoughts = [reply.text.strip() for reply in replies if reply.text.strip() and not reply.cut_off]
        else:
            reply = yield from ask(self._about(PROPOSE, task, state, k=self.branching), phase="propose")
            thoughts = read_thoughts(reply)
        return [f"{state}{thought}\n" for thought in thoughts[: self.branching]]

    def _evaluate(self, task: str, candidates: list[str]) -> Policy[list[float]]:
        """Return what each candidate is worth; the second time one comes it counts 0, without being valued again."""
        distinct = list(dict.fromkeys(candidates))
        if not distinct:
            return []
        if self.evaluate == "vote":
            values = yield from self._vote(task, distinct)
        else:
            values = yield from together(*(self._value(task, state) for state in distinct))
        worth, least = dict(zip(distinct, values, strict=True)), min([0.0, *values])
        return [worth.pop(candidate, least) for candidate in candidates]

    def _value(self, task: str, state: str) -> Policy[float]:
        if not isinstance(self.evaluate, str):
            return _number((yield from call(self.evaluate, task, state)))
        asked = self._about(VALUE, task, state)
        replies = yield from together(*(ask(asked, phase="evaluate") for _ in range(self.samples)))
        found = [read_judgement(reply.text) for reply in replies]
        if "" in found:
            yield from note(
                "fallback", f"{found.count('')} of {len(found)} judgements cannot be read and count nothing"
            )
        return sum(worth * found.count(name) for name, worth in VALUES.items())

    def _vote(self, task: str, states: list[str]) -> Policy[list[float]]:
        choices = "\n\n".join(f"Choice {number}:\n{state}" for number, state in enumerate(states, 1))
        asked = self._about(VOTE, task, choices)
        replies = yield from together(*(ask(asked, phase="evaluate") for _ in range(self.samples)))
        votes = [read_vote(reply.text, len(states)) for reply in replies]
        if 0 in votes:
            yield from note("fallback", f"{votes.count(0)} of {len(votes)} votes cannot be read")
        return [float(votes.count(number)) for number in range(1, len(states) + 1)]

    def _solves(self, task: str, state: str) -> Policy[bool]:
        return self.is_solution is not None and bool((yield from call(self.is_solution, task, state)))

    def _about(self, template: str, task: str, state: str, **values: Any) -> Transcript:
        return request(self.system_prompt, template.format(task=task, state=state or "(nothing yet)", **values))


def _number(value: Any) -> float:
    if isinstance(value, bool | int | float):
        return float(value) if value == value else float("-inf")  # what is not a number is worth nothing
    raise WrongType(f"TreeOfThoughts: evaluate must return a number, not {type(value).__name__} ({value!r:.80})")
