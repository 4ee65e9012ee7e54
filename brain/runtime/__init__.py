"""The one way to run a policy: the machine, the run, the kernel, and their record."""

from brain.runtime.events import ActionEnded, ActionStarted, Event, ModelChunk, Noted, RunEnded, RunStarted, StepEnded
from brain.runtime.governors import ApprovalGate, Approve, Deny, Limits, LoopGuard, Redactor, ToolPolicy
from brain.runtime.hooks import Hook
from brain.runtime.journal import Entry, ExecutionReport, Journal
from brain.runtime.journal_file import JournalFile, read_journal
from brain.runtime.kernel import Runtime
from brain.runtime.machine import TABLE, Egress, State, Symbol, diagram, move
from brain.runtime.run import Run

__all__ = [
    "TABLE",
    "ActionEnded",
    "ActionStarted",
    "ApprovalGate",
    "Approve",
    "Deny",
    "Egress",
    "Entry",
    "Event",
    "ExecutionReport",
    "Hook",
    "Journal",
    "JournalFile",
    "Limits",
    "LoopGuard",
    "ModelChunk",
    "Noted",
    "Redactor",
    "Run",
    "RunEnded",
    "RunStarted",
    "Runtime",
    "State",
    "StepEnded",
    "Symbol",
    "ToolPolicy",
    "diagram",
    "move",
    "read_journal",
]
