"""Redaction as a hook: what tools return is masked before the model, the record or anybody else sees it."""

from __future__ import annotations

from collections.abc import Iterable

from brain.policy import Act
from brain.redact import Redaction
from brain.runtime.hooks import Hook
from brain.types import Observation

__all__ = ["Redactor"]


class Redactor(Hook):
    """Masks secrets in what tools return: values under keys that sound secret, texts that look like keys.

    Journal files and traces mask by the same rules; this hook does so before a model is told.

    Args:
        keys: further names of keys whose values are masked.
        secrets: texts that are masked wherever they stand.
    """

    def __init__(self, *, keys: Iterable[str] = (), secrets: Iterable[str] = ()) -> None:
        self.redaction = Redaction(keys=keys, secrets=secrets)

    def post_tool_call(self, action: Act, observation: Observation) -> Observation | None:  # noqa: ARG002
        """Return the observation with its secrets masked."""
        text, value = self.redaction.text(observation.text), self.redaction.value(observation.value)
        detail = self.redaction.text(observation.detail)
        if text == observation.text and value is observation.value and detail == observation.detail:
            return None
        return Observation(text, observation.ok, value, observation.kind, detail)

    tool_call_error = post_tool_call

    def __repr__(self) -> str:
        return "Redactor()"
