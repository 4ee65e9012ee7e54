"""Hooks that govern: what a run may use, call and repeat, what a person must approve, and what nobody may see."""

from brain.runtime.governors.approval import ApprovalGate, Approve, Deny
from brain.runtime.governors.limits import Limits
from brain.runtime.governors.redactor import Redactor
from brain.runtime.governors.rules import LoopGuard, ToolPolicy

__all__ = ["ApprovalGate", "Approve", "Deny", "Limits", "LoopGuard", "Redactor", "ToolPolicy"]
