"""Contracts and plugins as patterns: joined to the runtime like any other."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from brain.contract import DPContract, ReactPlugin, follow, follow_plugin
from brain.errors import ConfigurationError, WrongType
from brain.patterns.base import BasePattern
from brain.policy import Finish, Note, Policy
from brain.runtime import Journal
from brain.types import LLMProvider

__all__ = ["ContractPattern", "PluginPattern"]


class ContractPattern(BasePattern):
    """A contract that can be run.

    Args:
        contract: the contract, which is configuration here: each run has a deep copy of it. A callable that
            makes one, such as the class itself, is called for each run instead.
        tools: what the contract may call.
        provider: the model to ask.
    """

    def __init__(
        self,
        contract: DPContract | Callable[[], DPContract],
        tools: Any = None,
        provider: LLMProvider | None = None,
    ) -> None:
        super().__init__(tools, provider)
        self._contract = contract
        self._dp_id = self._own().dp_id

    @property
    def name(self) -> str:
        """The ``dp_id`` of the contract."""
        return self._dp_id

    def policy(self, task: str) -> Policy[Finish]:
        """Follow a contract of this run's own."""
        return follow(self._own(), {"task": task, "tools": list(self.tools)})

    def _own(self) -> DPContract:
        if isinstance(self._contract, DPContract):
            try:
                return copy.deepcopy(self._contract)
            except Exception as error:
                raise ConfigurationError(
                    f"ContractPattern: {type(self._contract).__name__} cannot be copied for a run of its own "
                    f"({type(error).__name__}: {error}); pass a callable that makes one"
                ) from error
        given: Any = self._contract
        made = given() if callable(given) else given
        if not isinstance(made, DPContract):
            raise WrongType(f"ContractPattern: contract must be a DPContract or make one, not {type(made).__name__}")
        return made


class PluginPattern(BasePattern):
    """A plugin that can be run.

    Args:
        plugin: the plugin; its state is in ``q`` and ``run``, and the object serves all runs.
        tools: what the plugin may call.
        provider: the model to ask.
        config: handed to each method of the plugin.
    """

    def __init__(
        self,
        plugin: ReactPlugin,
        tools: Any = None,
        provider: LLMProvider | None = None,
        *,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(plugin, ReactPlugin):
            raise WrongType(f"PluginPattern: plugin must be a ReactPlugin, not {type(plugin).__name__}")
        super().__init__(tools, provider)
        self.plugin, self.config = plugin, dict(config or {})

    @property
    def name(self) -> str:
        """The ``plugin_id`` of the plugin."""
        return self.plugin.plugin_id

    def policy(self, task: str) -> Policy[Finish]:
        """Follow the plugin."""
        return follow_plugin(self.plugin, self._context(task), self.config)

    def _policy_after(self, task: str, done: Journal) -> Policy[Finish]:
        outcomes = sum(not isinstance(entry.action, Note) for entry in done)
        return follow_plugin(self.plugin, self._context(task), self.config, resumed_after=outcomes)

    def _context(self, task: str) -> dict[str, Any]:
        return {"task": task, "tools": list(self.tools)}
