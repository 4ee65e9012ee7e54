"""Views of what happened: one record, seen as text, as JSON."""

from brain.trace.record import to_dict
from brain.trace.text import as_text, step_line, visible

__all__ = ["as_text", "step_line", "to_dict", "visible"]
