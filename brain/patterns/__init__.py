"""The catalogue: one file per pattern."""

from brain.patterns.base import BasePattern
from brain.patterns.react import ReActAgent

__all__ = ["BasePattern", "ReActAgent"]
