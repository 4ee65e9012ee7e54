"""What an executor of model-written programs promises, and what it reports of a run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from brain.errors import ConfigurationError, SandboxError, SandboxTimeout

__all__ = ["BY_CONSTRUCTION", "GUARANTEES", "MARKER", "OnCall", "ProgramReport", "Sandbox", "check_required"]

GUARANTEES: dict[str, str] = {
    "no_network": "no traffic in or out: TCP, UDP, raw, Unix sockets by path or by abstract name",
    "no_filesystem_read": "no byte of a host file but the interpreter's and the system's libraries",
    "no_filesystem_write": "nothing on the host's file systems made, changed or removed, metadata included",
    "no_subprocess": "no other process, no other program",
    "host_process_protection": "no process outside signalled, traced, read, limited or slowed",
    "memory_limit": "the memory of the whole run is bounded",
    "cpu_limit": "processor time is bounded",
    "disk_limit": "what can be written is bounded",
    "kernel_surface": "the system calls that kernel escapes start from are closed",
    "no_survivors": "nothing of the run outlives it",
    "clean_env": "no variable, descriptor, working folder, terminal or input of the host is inherited",
    "time_limit": "the program is ended at its deadline",
    "output_limit": "what is kept of output, errors and answers is bounded",
    "tool_budget": "no more tool calls than allowed reach a tool",
}
"""What an executor can promise, and what each promise means."""

BY_CONSTRUCTION = frozenset({"clean_env", "time_limit", "output_limit", "tool_budget"})
"""The guarantees that the host's side gives on every platform; the others are tested in the program's process."""

MARKER = "RESULT:"
"""A line that begins so starts the answer in what a program prints; the answer goes on to the end."""

OnCall = Callable[[str, list[Any], dict[str, Any]], Any]
"""What performs a tool call of a program: ``on_call(name, args, kwargs)`` returns the result or raises."""


@dataclass(frozen=True, slots=True)
class ProgramReport:
    """What came of a program. Calls, time, limits and guarantees are the host's word; the rest is the program's."""

    ok: bool
    """Whether the program ran to its end and nothing that the host saw speaks against it."""
    stdout: str = ""
    """What it printed, as far as it was kept."""
    stderr: str = ""
    """What it wrote to standard error, as far as it was kept."""
    value: Any = None
    """What it passed to ``final_answer``."""
    answered: bool = False
    """Whether it called ``final_answer``."""
    error: str | None = None
    """Why it is not ok: the program's own traceback, or what the host saw."""
    error_type: str | None = None
    """The name of the exception that ended the program; ``None`` where the host ended it."""
    killed_by: str = ""
    """What ended it: ``timeout``, ``cpu``, ``output``, ``channel``, ``refused_calls``, ``signal``; else ``""``."""
    tool_calls: int = 0
    """Calls that were passed on to a tool, failed ones included."""
    refused_calls: int = 0
    """Calls that were not: past the budget, or to tools that this run does not have."""
    budget_exceeded: bool = False
    """Whether it asked for more calls than it was allowed; it cannot be ok then, whatever it did about it."""
    truncated: bool = False
    """Whether output was left out."""
    seconds: float = 0.0
    """Wall time, start-up included."""
    guarantees: Mapping[str, bool] = field(default_factory=dict)
    """What held in this run; each was tried in the program's own process before it got the program."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """For each layer that was not in force, why."""

    @property
    def output(self) -> str:
        """Standard output, then standard error."""
        return f"{self.stdout}\n{self.stderr}" if self.stdout and self.stderr else self.stdout or self.stderr

    @property
    def answer(self) -> Any:
        """The value given to ``final_answer``, or all text after the marker ``RESULT:``; ``None`` where neither is.

        A program that is not ok has no answer, nor has one whose marked text was cut short.
        """
        if not self.ok:
            return None
        if self.answered:
            return self.value
        _, marker, after = ("\n" + self.stdout).partition("\n" + MARKER)
        return None if not marker or self.truncated else after.strip() or None

    def raise_for_error(self) -> ProgramReport:
        """Return this report if it is ok; raise ``SandboxTimeout`` or ``SandboxError`` otherwise."""
        if self.ok:
            return self
        raise (SandboxTimeout if self.killed_by in ("timeout", "cpu") else SandboxError)(
            self.error or "the program failed"
        )


@runtime_checkable
class Sandbox(Protocol):
    """Anything that runs a program apart from the host and says what it can promise about that."""

    def run(
        self,
        program: str,
        tools: Mapping[str, Callable[..., Any]] = ...,
        *,
        on_call: OnCall | None = ...,
        timeout: float = ...,
        max_tool_calls: int = ...,
        require: Collection[str] | None = ...,
    ) -> ProgramReport:
        """Run a program.

        Args:
            program: Python source text.
            tools: what it may call, by name; each becomes a function with the real one's signature.
            on_call: performs the calls, so that hooks, approvals and budgets can stand between; by default the
                tool itself is called. An ``Exception`` it raises is raised in the program; a ``BaseException``
                such as ``KeyboardInterrupt`` ends the run and gets through.
            timeout: seconds of wall time.
            max_tool_calls: calls that may reach a tool, failed ones included.
            require: guarantees without which the program is not run; those of the sandbox by default.

        Returns:
            A report, whatever the program did.

        Raises:
            SandboxGuaranteeMissing: a required guarantee does not hold; the program was not run.
            SandboxUnavailable: nothing can be run here.
        """
        ...

    def guarantees(self) -> Mapping[str, bool]:
        """Return which guarantees hold here now, found by trying."""
        ...


def check_required(names: Collection[str]) -> frozenset[str]:
    """Return the required guarantees as a set; an unknown name raises ``ConfigurationError``."""
    if isinstance(names, str):
        names = {names}
    unknown = sorted(set(names) - set(GUARANTEES))
    if unknown:
        raise ConfigurationError(f"no such guarantee: {', '.join(unknown)}; there are {', '.join(GUARANTEES)}")
    return frozenset(names)
