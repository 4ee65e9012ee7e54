"""Patterns as parts of other patterns.

A part is any pattern. Its policy runs inside that of the whole, under a name that all its actions carry: one
journal, one budget, one trace. Its tools become tools of the whole, which calls them. Its provider and hooks
are not used: the whole's model is asked, under the whole's hooks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import GeneratorType
from typing import Any

from brain.errors import BrainError, ConfigurationError, PolicyError, TransitionError, WrongType
from brain.graph.writing import written
from brain.messages import Transcript, system, user
from brain.patterns.base import BasePattern
from brain.patterns.react import _SYSTEM_PROMPT, ReActAgent
from brain.policy import Act, Action, Ask, Batch, Finish, Note, Policy, ask, delegate, relay
from brain.tools import Toolset

__all__ = ["adopt", "call", "carry_out", "default_part", "one_line", "request", "watched", "write"]


def adopt(whole: BasePattern, parts: Mapping[str, Any]) -> None:
    """Give a pattern the tools of its parts, beside its own, and the executor of their programs.

    Args:
        whole: the pattern that is made of the parts.
        parts: the parts, each under the name that an error message calls it by.

    Raises:
        ConfigurationError: a part is no pattern, or two of them need different things under one name.
    """
    every = dict(whole.tools)
    for name, part in parts.items():
        if not isinstance(part, BasePattern):
            raise WrongType(f"{whole.name}: {name} must be a pattern, not {type(part).__name__} ({part!r:.80})")
        for tool in part._toolset().values():
            if every.setdefault(tool.name, tool) != tool:
                raise ConfigurationError(
                    f"{whole.name}: {name} has a tool {tool.name!r} that is not the one another part has; "
                    "the tools of a run share one list of names: rename one with tool(..., name=...)"
                )
    whole.tools = Toolset(every)
    executors = {id(part._sandbox): part._sandbox for part in parts.values() if part._sandbox is not None}
    if len(executors) > 1:
        raise ConfigurationError(f"{whole.name}: its parts have different sandboxes; a run has one")
    whole._sandbox = next(iter(executors.values()), None)


def default_part(tools: Any, system_prompt: str) -> BasePattern:
    """Return the part of those who name none: ``ReActAgent``, which sees the whole's system prompt before its own."""
    prompt = f"{system_prompt}\n\n{_SYSTEM_PROMPT}" if system_prompt else None
    return ReActAgent(tools, system_prompt=prompt)


def carry_out(agent: str, part: BasePattern, task: str, *, survive: Iterable[type[BrainError]] = ()) -> Policy[Finish]:
    """Carry out a task with a part, under a name.

    Args:
        agent: the name.
        part: the pattern.
        task: its task.
        survive: errors of the world that only end the part: it has failed then, and the whole goes on.
    """
    try:
        finish: Any = yield from delegate(agent, part.policy(task))
    except (ConfigurationError, PolicyError, TransitionError):
        raise  # the programmer's mistake
    except tuple(survive) as error:
        return Finish("", ok=False, error=str(error))
    return finish if isinstance(finish, Finish) else Finish(str(finish))


def watched(policy: Policy[Finish], seen: list[str]) -> Policy[Finish]:
    """Pass on what a policy wants, and write down what it said and saw."""
    return (yield from relay(policy, look=lambda action, outcome: seen.extend(_lines(action, outcome))))


def _lines(action: Action, outcome: Any) -> Iterator[str]:
    if isinstance(action, Batch):
        for each, came in zip(action.actions, outcome, strict=False):
            yield from _lines(each, came)
    elif isinstance(action, Ask):
        yield str(getattr(outcome, "text", outcome)).strip()
    elif isinstance(action, Note):
        if action.kind == "observation":
            yield f"Observation: {action.text}"
    else:
        given = f"{action.tool}({one_line(str(action.input), 200)}): " if isinstance(action, Act) else ""
        yield f"Observation: {given}{outcome}"


def call(function: Callable[..., Any], *arguments: Any) -> Policy[Any]:
    """Call what a user gave: a function, or one that returns a policy, which is run."""
    result = function(*arguments)
    if isinstance(result, GeneratorType):
        result = yield from result
    return result


def write(messages: Transcript, phase: str) -> Policy[str]:
    """Ask for a text; an empty reply, or one that is none, is asked for once more, and then fails."""
    reply = yield from ask(messages, phase=phase)
    return (yield from written(messages, reply, phase))


def request(system_prompt: str, text: str) -> Transcript:
    """Return the messages of one request: the system prompt, if there is one, and the text."""
    first = [system(system_prompt, cache_stable=True)] if system_prompt else []
    return Transcript([*first, user(text)])


def one_line(text: str, most: int = 2_000) -> str:
    """Return a text of a model or a tool on one line, so that it cannot open an entry of a list it stands in."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]} … ({most} of {len(line)} characters)"
