"""Self-consistency: sample several chains of thought and let their answers vote (Wang et al., 2022,
https://arxiv.org/abs/2203.11171).

    for i = 1 .. m
        (r_i, a_i) <- a sampled reasoning path and the answer at its end
    return the answer that most of the paths agree on

Differs from the paper: no worked examples in the prompt; any pattern may make the paths; a path without an answer
casts no vote; of answers with equally many votes the one that came first wins, so that a run can be repeated.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from brain.errors import BrainError, ConfigurationError, WrongType, whole_number
from brain.patterns.base import BasePattern
from brain.patterns.parts import adopt, carry_out, default_part, request
from brain.policy import Finish, Policy, ask, note, together
from brain.types import LLMProvider

__all__ = ["SelfConsistency", "chain_answer"]


class SelfConsistency(BasePattern):
    """Several attempts that do not see each other, and the answer on which most of them agree.

    The model has to be sampled at a temperature above 0, which is set where the provider is made, and replies must
    not come from a cache: otherwise all paths are the same, and the vote means nothing. With
    ``run(task, max_workers=8)`` the paths are under way at the same time.

    Args:
        sampler: the pattern that makes a path; by default one reply that thinks step by step, or ``ReActAgent``
            where there are ``tools``. It is run by this pattern's provider.
        provider: the model to ask.
        tools: what the default sampler may call.
        samples: how many paths there are; 40 in the paper, where most of the gain comes with the first 10.
        key: ``key(answer)`` returns the form in which answers are compared; by default without regard to case, white
            space and final punctuation.
        system_prompt: shown to the default sampler.
    """

    def __init__(
        self,
        sampler: BasePattern | None = None,
        provider: LLMProvider | None = None,
        *,
        tools: Any = None,
        samples: int = 40,
        key: Callable[[str], Any] | None = None,
        system_prompt: str = "",
    ) -> None:
        super().__init__(None, provider)
        if sampler is not None and tools:
            raise ConfigurationError("SelfConsistency: tools are for the default sampler; give them to yours instead")
        if key is not None and not callable(key):
            raise WrongType(f"SelfConsistency: key must be callable, not {type(key).__name__}")
        self.sampler = default_part(tools, system_prompt) if sampler is None and tools else sampler
        self.samples = whole_number("SelfConsistency", "samples", samples)
        self.key = _plain if key is None else key
        self.system_prompt = system_prompt
        adopt(self, {} if self.sampler is None else {"sampler": self.sampler})

    def policy(self, task: str) -> Policy[Finish]:
        """Sample the paths, then count."""
        paths = yield from together(*(self._path(number, task) for number in range(1, self.samples + 1)))
        votes: dict[Any, list[str]] = {}
        for finish in paths:
            if finish.ok:
                votes.setdefault(self.key(finish.answer), []).append(finish.answer)
        if not votes:
            return Finish(
                "", ok=False, error=f"none of {self.samples} samples gave an answer; the last: {paths[-1].error}"
            )

        agreed = max(votes.values(), key=len)  # of equals, the first
        counted = ", ".join(f"{len(each)} for {each[0]!r:.60}" for each in votes.values())
        yield from note("vote", f"{counted} of {self.samples} samples")
        return Finish(agreed[0])

    def _path(self, number: int, task: str) -> Policy[Finish]:
        """Sample a path; one that fails in the world casts no vote."""
        if self.sampler is not None:
            return (yield from carry_out(f"sample {number}", self.sampler, task, survive=[BrainError]))
        try:
            reply = yield from ask(request(self.system_prompt, _CHAIN.format(task=task)), phase=f"sample {number}")
        except BrainError as error:
            return Finish("", ok=False, error=str(error))
        answer = "" if reply.cut_off else chain_answer(reply.text)
        return Finish(answer, ok=bool(answer), error=None if answer else "the reply names no answer")


def chain_answer(text: str) -> str:
    """Return what a chain of thought names as its answer after the last ``Answer:``; ``""`` if it names none."""
    found = _ANSWER.findall(text)
    return found[-1].strip().strip("*`").strip() if found else ""


_ANSWER = re.compile(
    r"^[ \t>*_#-]{0,8}(?:the |final )?answer(?: is)?[*_ \t]{0,4}[:\uff1a](.{1,4000})$", re.IGNORECASE | re.MULTILINE
)


def _plain(answer: str) -> str:
    return " ".join(answer.casefold().split()).rstrip(" .!")


_CHAIN = """\
{task}

Think step by step. Then give the result on a line of its own that begins with "Answer:"."""
