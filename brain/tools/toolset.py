"""The tools of a pattern, by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from brain.errors import ConfigurationError, WrongType
from brain.tools.calling import call_raw, call_with, call_with_text
from brain.tools.render import shortened
from brain.tools.tool import Tool, made
from brain.types import Observation, ToolSpec

__all__ = ["Toolset"]

_NATIVE = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""Names that every provider takes; some take more."""
_MOST_NAME = 100
"""Characters of an unknown name that are compared to find what was meant."""


class Toolset(Mapping[str, Tool]):
    """Tools by name; cannot be changed.

    Args:
        tools: a mapping of names to callables, or an iterable of callables; a ``Tool``, or an object with
            ``name``, ``description`` and ``invoke`` or ``run``, may stand where a callable does.
        native: whether the tools are called natively, so that their names must be such as providers take.

    Raises:
        ConfigurationError: something is no tool, a name cannot be used, or two tools have one name.
    """

    __slots__ = ("_specs", "_tools")

    def __init__(self, tools: Mapping[str, Any] | Iterable[Any] | None = None, *, native: bool = False) -> None:
        if isinstance(tools, Toolset):
            self._tools: dict[str, Tool] = tools._tools
        else:
            self._tools = dict(_collected(tools))
        self._specs: tuple[ToolSpec, ...] | None = None
        if native:
            self._check_names()

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __repr__(self) -> str:
        return f"Toolset({', '.join(self._tools)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Toolset, (self._tools,))

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What a model is told of the tools natively; the same objects each time.

        Raises:
            ConfigurationError: a name is none that providers take.
        """
        if self._specs is None:
            self._check_names()
            self._specs = tuple(tool.spec for tool in self._tools.values())
        return self._specs

    def call(self, name: str, input: Any) -> Observation:
        """Call a tool and return what came of it; this never raises an ``Exception``.

        Args:
            name: the tool.
            input: a text, as the text protocol of ReAct has it, or a mapping of arguments.
        """
        tool = self._found(name)
        if tool is None:
            return self._unknown(name, suggest=not isinstance(input, str))
        return call_with_text(tool, input) if isinstance(input, str) else call_with(tool, input)

    def call_raw(self, name: str, raw: str) -> Observation:
        """Call a tool natively with the text of its arguments, which could not be decoded."""
        tool = self._found(name)
        return self._unknown(name, suggest=True) if tool is None else call_raw(tool, raw)

    def _found(self, name: object) -> Tool | None:
        return self._tools.get(name) if isinstance(name, str) else None  # what is no text may have no hash

    def _check_names(self) -> None:
        for name in self._tools:
            if not _NATIVE.fullmatch(name):
                raise ConfigurationError(
                    f"tools[{name!r}]: providers take names of 1 to 64 ASCII letters, digits, _ and - only; "
                    "choose another, such as {'find_depth': tool}"
                )

    def _unknown(self, name: object, *, suggest: bool) -> Observation:
        if suggest:  # the other voice says what the page says
            name = shortened(str(name), _MOST_NAME)
        text = f"Unknown tool '{name}'. Available: {', '.join(self._tools) or 'none'}"
        if suggest:
            from difflib import get_close_matches

            near = get_close_matches(str(name)[:_MOST_NAME], self._tools, 1)
            text += f". Did you mean '{near[0]}'?" if near else ""
        return Observation(text, ok=False, kind="unknown_tool")


def _collected(tools: Any) -> Iterator[tuple[str, Tool]]:
    if tools is None:
        return
    if isinstance(tools, str | bytes) or not isinstance(tools, Iterable):
        raise WrongType(
            "tools must be a mapping of names to callables, or an iterable of callables, "
            f"not {type(tools).__name__} ({tools!r:.80})"
        )
    if isinstance(tools, Mapping):
        for name, given in tools.items():
            yield name, made(given, f"tools[{name!r}]", {"name": name})
        return
    seen = set()
    for index, given in enumerate(tools):
        tool = made(given, f"tools[{index}]", {})
        if tool.name in seen:
            raise ConfigurationError(
                f"tools[{index}]: there are two tools called {tool.name!r}; "
                "give one of them another name with tool(..., name=...), or give a mapping of names to callables"
            )
        seen.add(tool.name)
        yield tool.name, tool
