"""Names to patterns and providers: ``build_agent("debate", model="openai:…", tools=[…])``."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from brain import patterns
from brain.errors import ConfigurationError, UnknownKeyword, UnknownPattern, whole_number
from brain.graph import PromptGraph
from brain.ledger import ContextCompaction
from brain.patterns import BasePattern
from brain.types import LLMProvider

__all__ = ["PATTERNS", "build_agent", "pattern_class"]

PATTERNS = {
    "react": "React",
    "react-text": "ReActAgent",
    "verify": "Verify",
    "managed": "Managed",
    "code-action": "CodeAction",
    "peoatr": "PEOATR",
    "research": "Research",
    "autonomous": "Autonomous",
    "deliberate": "Deliberate",
    "debate": "Debate",
    "pipeline": "Pipeline",
    "reflexion": "Reflexion",
    "plan-and-execute": "PlanAndExecute",
    "tree-of-thoughts": "TreeOfThoughts",
    "orchestrator": "MultiAgentOrchestrator",
    "self-consistency": "SelfConsistency",
}
"""The names of the patterns, and the classes behind them.

``react`` calls tools natively, ``react-text`` speaks the text protocol of the paper.
"""

_TOOLS = {"research": "search_tools"}
"""What the parameter for tools is called where it is not ``tools``."""


def build_agent(
    agent_pattern: str | PromptGraph | BasePattern = "react",
    *,
    model: str | LLMProvider | None = None,
    tools: Mapping[str, Any] | Iterable[Any] | None = None,
    instructions: str = "",
    context_compaction: ContextCompaction | None = None,
    code_action: Mapping[str, Any] | None = None,
    max_agent_iterations: int | None = None,
    **options: Any,
) -> BasePattern:
    """Make an agent from a pattern's name, a graph, or a pattern.

    Args:
        agent_pattern: the name of a pattern, see ``PATTERNS``; or a ``PromptGraph``; or a pattern, of which a
            copy is made.
        model: the model to ask: a provider, or its name (``"openai:gpt-5-mini"``, ``"ollama:…"``,
            ``"http://host:port/v1#model"``, ``"echo"``); by default the offline echo.
        tools: what the model may call.
        instructions: the system prompt that all stages see.
        context_compaction: how long tool loops are shown.
        code_action: options of the code-action pattern: ``exec_timeout``, ``max_repairs``, ``max_tool_calls``,
            ``sandbox``.
        max_agent_iterations: how many model calls a run may make in all.
        **options: further parameters of the pattern, such as ``max_rounds`` of a debate.

    Raises:
        ConfigurationError: an unknown name or option; the known ones are listed.
    """
    provider = _provider(model)
    if code_action is not None:
        if agent_pattern not in ("code-action", "code_action"):
            raise ConfigurationError(f"build_agent: code_action is for the pattern code-action, not {agent_pattern!r}")
        options = {**options, **code_action}
    if isinstance(agent_pattern, str):
        agent = _named(agent_pattern, provider, tools, instructions, context_compaction, options)
    else:
        given = {"tools": tools, "instructions": instructions, "context_compaction": context_compaction, **options}
        settings = [name for name, value in given.items() if value]
        if settings:
            raise ConfigurationError(f"build_agent: {', '.join(settings)} is set where the graph or pattern is made")
        if isinstance(agent_pattern, PromptGraph):
            agent = patterns.GraphPattern(agent_pattern, provider)
        elif isinstance(agent_pattern, BasePattern):
            agent = agent_pattern if provider is None else agent_pattern.with_provider(provider)
        else:
            raise UnknownPattern(
                f"build_agent: agent_pattern is a name, a PromptGraph or a pattern, not {type(agent_pattern).__name__}"
            )
    if max_agent_iterations is not None:
        from brain.runtime.governors import Limits

        agent = agent.with_hooks(
            Limits(model_calls=whole_number("build_agent", "max_agent_iterations", max_agent_iterations))
        )
    return agent


def pattern_class(name: str) -> type[BasePattern]:
    """Return the class of a pattern by its name.

    Raises:
        UnknownPattern: there is none of this name; the message lists those there are.
    """
    try:
        found: type[BasePattern] = getattr(patterns, PATTERNS[name.replace("_", "-")])
    except KeyError:
        raise UnknownPattern(f"no pattern is called {name!r}; there are {', '.join(PATTERNS)}") from None
    return found


def _named(
    name: str,
    provider: LLMProvider | None,
    tools: Any,
    instructions: str,
    context_compaction: ContextCompaction | None,
    options: dict[str, Any],
) -> BasePattern:
    made = pattern_class(name)
    known = set(_parameters(made))
    unknown = sorted(set(options) - known)
    if unknown:
        listed = ", ".join(sorted(known - {"provider"}))
        raise UnknownKeyword(f"build_agent: {name} has no option {', '.join(unknown)}; it has {listed}")
    if name == "pipeline":
        raise ConfigurationError("build_agent: a pipeline is made of stages; pass PromptGraph.pipeline(…) instead")
    settings = {**options, "provider": provider}
    if tools is not None:
        settings[_TOOLS.get(name, "tools")] = tools
    if instructions:
        settings["system_prompt"] = instructions
    if context_compaction is not None:
        if "context_compaction" not in known:
            raise ConfigurationError(f"build_agent: {name} takes no context_compaction")
        settings["context_compaction"] = context_compaction
    return made(**settings)


def _parameters(made: type[BasePattern]) -> list[str]:
    """Return the names that a pattern's class takes, those it passes on to its bases included."""
    names: list[str] = []
    for each in made.__mro__:
        if "__init__" not in vars(each) or each is object:
            continue
        parameters = inspect.signature(vars(each)["__init__"]).parameters.values()
        names += [one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
        if all(one.kind is not one.VAR_KEYWORD for one in parameters):
            break
    return [name for name in names if name != "self"]


def _provider(model: str | LLMProvider | None) -> LLMProvider | None:
    if not isinstance(model, str):
        return model
    from brain.providers import provider

    found: LLMProvider = provider(model)
    return found
