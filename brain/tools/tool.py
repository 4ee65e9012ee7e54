"""A callable as a tool: its name, its description, what it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, overload

from brain.errors import ConfigurationError, UnknownKeyword, WrongType
from brain.tools.objects import shape_of
from brain.types import ToolSpec

__all__ = ["Parameter", "Plan", "Tool", "tool"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool."""

    name: str
    kind: Any
    """Its Python type; ``None`` where it has no annotation."""
    required: bool = True
    default: Any = None
    """What it is when it is left out; without meaning for one that is required."""
    positional: bool = False
    """Whether it must be passed by position."""
    takes_text: bool = False
    """Whether any text is a value of it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a tool is called."""

    parameters: tuple[Parameter, ...]
    schema: dict[str, Any]
    description: str
    opaque: bool = False
    """Whether nothing is known of what it takes but what a declared schema says: nothing is checked."""
    more: bool = False
    """Whether it takes arguments beyond its parameters (``**kwargs``)."""
    verbatim: bool = False
    """Whether it is called with a text as its one positional argument, as ``callable(str) -> str`` is."""

    @property
    def main(self) -> Parameter | None:
        """The only parameter, or the only one that is required: the one that a lone value is meant for."""
        required = [each for each in self.parameters if each.required]
        candidates = self.parameters if len(self.parameters) == 1 else required
        return candidates[0] if len(candidates) == 1 else None


class Tool:
    """Something that a model can call.

    Args:
        name: the name the model calls it by.
        call: what is called.
        description: what the model is told of it; by default the docstring says.
        schema: JSON schema of its arguments; by default the signature says.
        timeout: after how many seconds a call is given up; ``None``: never.
        idempotent: whether a call that was begun may be made again after a crash.
        max_result_chars: how many characters of a result the model is shown; 100,000 by default.

    Raises:
        ConfigurationError: ``call`` is not callable, the name is none, or a number makes no sense.
    """

    __slots__ = ("_description", "_plan", "_schema", "call", "idempotent", "max_result_chars", "name", "timeout")

    def __init__(
        self,
        name: str,
        call: Callable[..., Any],
        description: str | None = None,
        schema: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        idempotent: bool = False,
        max_result_chars: int | None = None,
    ) -> None:
        if not _is_name(name):
            raise ConfigurationError(f"tools: {name!r:.80} is no name for a tool; a name is a text on one line")
        if not callable(call):
            raise WrongType(f"tool {name!r} must be callable, not {type(call).__name__} ({call!r:.80})")
        if timeout is not None:
            _check_number(name, "timeout", timeout, (int, float), "a number of seconds above 0")
        if max_result_chars is not None:
            _check_number(name, "max_result_chars", max_result_chars, (int,), "a whole number of at least 1")
        self.name = name
        self.call = call
        self.timeout = timeout
        self.idempotent = idempotent
        self.max_result_chars = max_result_chars
        self._description = description
        self._schema = schema
        self._plan: Plan | None = None

    @property
    def plan(self) -> Plan:
        """How it is called; worked out when first needed."""
        if self._plan is None:
            from brain.tools.signature import plan_of

            self._plan = plan_of(self.call, self._description, self._schema)
        return self._plan

    @property
    def description(self) -> str:
        """What the model is told of it."""
        return self.plan.description

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of its arguments."""
        return self.plan.schema

    @property
    def spec(self) -> ToolSpec:
        """What a model is told natively, in the shape of Chat Completions."""
        function = {"name": self.name, "description": self.description, "parameters": self.schema}
        return {"type": "function", "function": function}

    def renamed(self, name: str) -> Tool:
        """Return the same tool under another name."""
        return self if name == self.name else self._with(name=name)

    def _with(self, **changes: Any) -> Tool:
        settings = dict(zip(_SETTINGS, self._settings(), strict=True)) | changes
        other = Tool(**settings)
        if changes.keys().isdisjoint(("description", "schema")):
            other._plan = self._plan
        return other

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call what is behind the tool, without checks."""
        return self.call(*arguments, **keywords)

    def _settings(self) -> tuple[Any, ...]:
        settings = (self.timeout, self.idempotent, self.max_result_chars)
        return (self.name, self.call, self._description, self._schema, *settings)

    def __eq__(self, other: object) -> bool:
        return self._settings() == other._settings() if isinstance(other, Tool) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuilt, self._settings())


_SETTINGS = ("name", "call", "description", "schema", "timeout", "idempotent", "max_result_chars")


def _rebuilt(*settings: Any) -> Tool:
    return Tool(**dict(zip(_SETTINGS, settings, strict=True)))


def _is_name(name: object) -> bool:
    return isinstance(name, str) and bool(name.strip()) and len(name.splitlines()) == 1


def _check_number(name: str, setting: str, value: Any, kinds: tuple[type, ...], expected: str) -> None:
    message = f"tool {name!r}: {setting} must be {expected}, not {value!r:.80}"
    if type(value) not in kinds:
        raise WrongType(message)
    if value > 0:  # NaN is not
        return
    raise ConfigurationError(message)


@overload
def tool(
    call: Any,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    schema: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    idempotent: bool | None = None,
    max_result_chars: int | None = None,
) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    schema: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    idempotent: bool | None = None,
    max_result_chars: int | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(call: Any = None, /, **options: Any) -> Any:
    """Make a tool of a callable; also a decorator, with and without arguments.

    Args:
        call: what is called; or an object with ``name``, ``description`` and ``invoke`` or ``run``; or a tool
            that is to be the same but for the options.
        **options: ``name``, by default that of the callable; ``description``, ``schema``, ``timeout``,
            ``idempotent`` and ``max_result_chars``, as for ``Tool``.

    Raises:
        ConfigurationError: the callable has no name of its own and none is given; or as for ``Tool``.
    """
    unknown = options.keys() - set(_SETTINGS)
    if unknown:
        known = ", ".join(each for each in _SETTINGS if each != "call")
        raise UnknownKeyword(f"tool() has no option {', '.join(sorted(unknown))}; it knows {known}")
    options = {option: value for option, value in options.items() if value is not None}
    if call is None:
        return lambda decorated: tool(decorated, **options)
    if isinstance(call, Tool):
        return call._with(**options) if options else call
    return made(call, "tool()", options)


def made(given: Any, where: str, options: dict[str, Any]) -> Tool:
    """Return what was given as a tool; an error names the place."""
    if isinstance(given, Tool):
        return given.renamed(options.get("name", given.name))
    shape = shape_of(given, where)
    if shape is not None:
        return Tool(**(shape | options))
    if not callable(given):
        raise WrongType(f"{where} must be callable, not {type(given).__name__} ({given!r:.80})")
    name = options["name"] if "name" in options else _name_of(given, where)
    return Tool(**{"call": given, **options, "name": name})


def _name_of(call: Any, where: str) -> str:
    """Return the name of a callable: of the function behind a partial, of the class of a callable object."""
    while isinstance(call, partial):
        call = call.func
    name = getattr(call, "__name__", None) or type(call).__name__
    if not isinstance(name, str) or name == "<lambda>":
        raise ConfigurationError(
            f"{where}: a lambda has no name; give a mapping of names to callables, such as {{'search': lambda q: ...}}"
        )
    return name
