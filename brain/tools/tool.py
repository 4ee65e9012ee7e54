"""A callable as a tool: its name, its description, what it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, overload

from brain.errors import ConfigurationError, WrongType
from brain.types import ToolSpec

__all__ = ["Parameter", "Plan", "Tool", "tool"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool."""

    name: str
    kind: Any
    """Its Python type; ``None`` where it has no annotation."""
    required: bool
    positional: bool
    """Whether it must be passed by position."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a tool is called."""

    parameters: tuple[Parameter, ...]
    schema: dict[str, Any]
    description: str
    opaque: bool = False
    """Whether nothing is known of what it takes: it gets the text, or the mapping, as it is."""


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
        ConfigurationError: ``call`` is not callable, or a number makes no sense.
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
        if not callable(call):
            raise WrongType(f"tool {name!r} must be callable, not {type(call).__name__} ({call!r:.80})")
        if timeout is not None and not timeout > 0:
            raise ConfigurationError(f"tool {name!r}: timeout must be more than 0 seconds, not {timeout!r}")
        if max_result_chars is not None and max_result_chars < 1:
            raise ConfigurationError(f"tool {name!r}: max_result_chars must be at least 1, not {max_result_chars!r}")
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
        if name == self.name:
            return self
        other = Tool(name, self.call, self._description, self._schema, timeout=self.timeout, idempotent=self.idempotent)
        other.max_result_chars, other._plan = self.max_result_chars, self._plan
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


def _rebuilt(name: str, call: Any, description: Any, schema: Any, timeout: Any, idempotent: Any, most: Any) -> Tool:
    return Tool(name, call, description, schema, timeout=timeout, idempotent=idempotent, max_result_chars=most)


@overload
def tool(call: Callable[..., Any], /, **options: Any) -> Tool: ...
@overload
def tool(*, name: str | None = None, **options: Any) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(call: Callable[..., Any] | None = None, /, *, name: str | None = None, **options: Any) -> Any:
    """Make a tool of a callable; also a decorator, with and without arguments.

    Args:
        call: what is called.
        name: the name of the tool; by default that of the callable.
        **options: ``description``, ``schema``, ``timeout``, ``idempotent`` and ``max_result_chars``, as for ``Tool``.

    Raises:
        ConfigurationError: the callable has no name of its own and none is given.
    """
    if call is None:
        return lambda decorated: tool(decorated, name=name, **options)
    if isinstance(call, Tool):
        return call.renamed(name or call.name)
    return Tool(name or name_of(call), call, **options)


def name_of(call: Any) -> str:
    """Return the name of a callable: of the function behind a partial, of the class of a callable object."""
    while hasattr(call, "func") and not hasattr(call, "__name__"):  # functools.partial
        call = call.func
    name = getattr(call, "__name__", None) or type(call).__name__
    if not isinstance(name, str) or name == "<lambda>":
        raise ConfigurationError(
            "tools: a lambda has no name; give a mapping of names to callables, such as {'search': lambda q: ...}"
        )
    return name
