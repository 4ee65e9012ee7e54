"""The tools of a pattern, by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from brain.errors import ConfigurationError, WrongType
from brain.tools.calling import call_raw, call_with, call_with_text
from brain.tools.tool import Tool, name_of
from brain.types import Observation, ToolSpec

__all__ = ["Toolset"]

_NATIVE = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""Names that every provider takes; some take more."""


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
        for name in self._tools if native else ():
            if not _NATIVE.fullmatch(name):
                raise ConfigurationError(
                    f"tools[{name!r}]: providers take names of 1 to 64 letters, digits, _ and - only; choose another"
                )

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
        """What a model is told of the tools natively; the same objects each time."""
        if self._specs is None:
            self._specs = tuple(tool.spec for tool in self._tools.values())
        return self._specs

    def call(self, name: str, input: Any) -> Observation:
        """Call a tool and return what came of it; this never raises an ``Exception``.

        Args:
            name: the tool.
            input: a text, as the text protocol of ReAct has it, or a mapping of arguments.
        """
        tool = self._tools.get(name)
        if tool is None:
            return self._unknown(name, suggest=not isinstance(input, str))
        return call_with_text(tool, input) if isinstance(input, str) else call_with(tool, input)

    def call_raw(self, name: str, raw: str) -> Observation:
        """Call a tool natively with the text of its arguments, which could not be decoded."""
        tool = self._tools.get(name)
        return self._unknown(name, suggest=True) if tool is None else call_raw(tool, raw)

    def _unknown(self, name: str, *, suggest: bool) -> Observation:
        text = f"Unknown tool '{name}'. Available: {', '.join(self._tools) or 'none'}"
        if suggest:
            from difflib import get_close_matches

            near = get_close_matches(name[:100], self._tools, 1)
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
            if not isinstance(name, str) or not name.strip() or "\n" in name:
                raise ConfigurationError(f"tools: {name!r} is no name for a tool; a name is a text on one line")
            yield name, _as_tool(given, name, f"tools[{name!r}]")
        return
    seen = set()
    for index, given in enumerate(tools):
        tool = _as_tool(given, None, f"tools[{index}]")
        if tool.name in seen:
            raise ConfigurationError(f"tools[{index}]: there are two tools called {tool.name!r}")
        seen.add(tool.name)
        yield tool.name, tool


def _as_tool(given: Any, name: str | None, where: str) -> Tool:
    if isinstance(given, Tool):
        return given.renamed(name or given.name)
    method = getattr(given, "invoke", None) or getattr(given, "run", None)
    own = getattr(given, "name", None)
    if callable(method) and isinstance(own, str) and isinstance(getattr(given, "description", None), str):
        return Tool(name or own, _Invoked(given), given.description, _foreign_schema(given))
    if not callable(given):
        raise WrongType(f"{where} must be callable, not {type(given).__name__} ({given!r:.80})")
    return Tool(name or name_of(given), given)


class _Invoked:
    """Calls an object that has ``invoke`` or ``run``: with the text, or with all arguments as one mapping."""

    def __init__(self, target: Any) -> None:
        self.target = target

    def __call__(self, *given: Any, **arguments: Any) -> Any:
        method: Callable[[Any], Any] = getattr(self.target, "invoke", None) or self.target.run
        return method(given[0] if given else arguments)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Invoked) and self.target is other.target

    def __hash__(self) -> int:
        return id(self.target)


def _foreign_schema(given: Any) -> dict[str, Any] | None:
    """Read what such an object says of its arguments, in the ways that such objects have."""
    for read in (
        lambda: given.get_input_jsonschema(),
        lambda: given.args_schema.model_json_schema(),
        lambda: {"type": "object", "properties": dict(given.args)},
    ):
        try:
            schema = read()
        except Exception:  # this object does not say it this way
            schema = None
        if isinstance(schema, dict):
            return schema
    return None
