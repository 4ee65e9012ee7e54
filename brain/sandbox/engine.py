"""What both executors do alike: ask for a launcher, compare what it proved with what is required, run, report."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from brain.errors import ConfigurationError, SandboxGuaranteeMissing, SandboxUnavailable, WrongType
from brain.sandbox.base import BY_CONSTRUCTION, GUARANTEES, OnCall, ProgramReport, check_required
from brain.sandbox.bridge import FRAME, ROOM, Bridge, Ended, Limits
from brain.sandbox.inside.endings import CPU_TIME, DEADLINE
from brain.sandbox.inside.wire import dumps
from brain.sandbox.launched import ANSWER, Launched
from brain.sandbox.signatures import ToolFace, faces

__all__ = ["Engine"]

_START = 20.0  # seconds for a launcher to report; a container's may be slow, none takes a tenth of that
_MARGIN = 1.0  # seconds that the launcher's clock gives the host's, which starts later and looks first
_ERROR = 20_000  # characters of an error that are kept


class Engine(ABC):
    """An executor; what differs between them is how a launcher is started (``_launch``)."""

    def __init__(self, *, require: Collection[str], memory: int, scratch: int, output: int, cpu: float | None) -> None:
        for name, value, least in (("memory", memory, 64 << 20), ("scratch", scratch, 4096), ("output", output, 0)):
            if type(value) is not int:
                raise WrongType(f"{name} is a number of bytes, an int; got {value!r}")
            if value < least:
                raise ConfigurationError(f"{name} is {value} bytes; {least} are needed")
        if cpu is not None and not cpu > 0:
            raise ConfigurationError(f"cpu is a number of seconds above 0, or None; got {cpu!r}")
        self.require = check_required(require)
        self.memory, self.scratch, self.output, self.cpu = memory, scratch, output, cpu

    @abstractmethod
    def _launch(self, config: dict[str, Any]) -> AbstractContextManager[Launched]:
        """Start a launcher; on leaving, nothing of it is left."""

    @abstractmethod
    def _advice(self) -> str:
        """Say what would bring a guarantee that is missing."""

    def run(
        self,
        program: str,
        tools: Mapping[str, Callable[..., Any]] | None = None,
        *,
        on_call: OnCall | None = None,
        timeout: float = 120,
        max_tool_calls: int = 50,
        require: Collection[str] | None = None,
    ) -> ProgramReport:
        """Run a program and report what came of it; see ``Sandbox.run``."""
        started = time.monotonic()
        required = self.require if require is None else check_required(require)
        limits = Limits(_positive(timeout), _count(max_tool_calls), self.output)
        given = dict(tools or {})
        for name, tool in given.items():
            if type(name) is not str or not callable(tool):
                raise WrongType(f"tools is a mapping of names to callables; got {name!r}: {type(tool).__name__}")
        shown = faces(given)
        message = _message(program, shown)

        def call(name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
            return given[name](*args, **kwargs)

        with self._talk(limits) as (launched, bridge, ready):
            guarantees, notes = _guarantees(ready), ready["notes"]
            self._refuse_without(required, guarantees, notes)
            last: dict[str, Any] = {}
            ended: Ended | None = None
            try:
                last = bridge.converse(message, given, on_call or call)
            except Ended as reason:
                ended, launched.failed = reason, True
            fell_silent = ended is not None and ended.kind == "closed"
            if not fell_silent:
                launched.release()
            bridge.drain(launched.patience)
            status = launched.status(0.5) if fell_silent else None
        return _report(bridge, last, ended, status, limits, started, guarantees, notes)

    def guarantees(self) -> Mapping[str, bool]:
        """Return which guarantees hold here now, found by trying in a process that then gets no program."""
        return self.examine()[0]

    def check(self) -> None:
        """Raise ``SandboxUnavailable`` or ``SandboxGuaranteeMissing`` where a program would not be run."""
        self._refuse_without(self.require, *self.examine())

    def examine(self) -> tuple[Mapping[str, bool], Mapping[str, str]]:
        """Return which guarantees hold here now, and for each layer that is not in force, why."""
        with self._talk(Limits(_START, 0, self.output)) as (_, _, ready):
            return _guarantees(ready), ready["notes"]

    @contextmanager
    def _talk(self, limits: Limits) -> Iterator[tuple[Launched, Bridge, dict[str, Any]]]:
        """Start a launcher and hear what it proved; end it and close all that is open, however this is left."""
        import math

        config = {
            "memory": self.memory,
            "scratch": self.scratch,
            "cpu": math.ceil(self.cpu if self.cpu is not None else limits.seconds + 1),
            "seconds": limits.seconds + _MARGIN,
            "room": ROOM,
        }
        with self._launch(config) as launched:
            bridge = Bridge(launched.requests, launched.replies, launched.out, launched.err, limits, launched.first)
            try:
                ready = bridge.ready(_START)
            except Ended:
                launched.failed = True
                launched.release()
                bridge.drain(ANSWER)
                said = " ".join(bridge.err.text().split())[-500:] or f"exit status {launched.status(ANSWER)}"
                raise SandboxUnavailable(f"the sandbox did not start: {said}. {self._advice()}") from None
            launched.proven()
            yield launched, bridge, ready

    def _refuse_without(self, required: Collection[str], given: Mapping[str, bool], notes: Mapping[str, str]) -> None:
        missing = tuple(name for name in GUARANTEES if name in required and not given[name])
        if missing:
            why = "; ".join(f"{layer}: {reason}" for layer, reason in notes.items())
            raise SandboxGuaranteeMissing(
                f"no program is run, for this sandbox does not give {', '.join(missing)}"
                + (f" ({why})" if why else "")
                + f". {self._advice()} To run it all the same, require less by name.",
                missing=missing,
                notes=dict(notes),
            )


def _guarantees(ready: dict[str, Any]) -> dict[str, bool]:
    return {name: name in BY_CONSTRUCTION or ready["held"].get(name) is True for name in GUARANTEES}


def _message(program: str, shown: list[ToolFace]) -> str:
    """Write the frame that carries the program and its tools."""
    if type(program) is not str:
        raise WrongType(f"a program is text; got {type(program).__name__}")
    program = program.encode("utf-8", "backslashreplace").decode()  # half a surrogate pair, as Python would write it
    tools = []
    for face in shown:
        defaults: list[Any] = []
        for each in face.defaults:
            try:
                dumps(each, 2000)
                defaults.append([each])
            except (TypeError, ValueError):  # shown where the program asks, and never sent
                defaults.append((repr(each)[:200],))
        tools.append(
            {"name": face.name, "alias": face.alias, "header": face.header, "defaults": defaults, "doc": face.doc,
             "names": list(face.names) if face.by_name else [], "renamed": dict(face.renamed)}
        )  # fmt: skip
    try:
        text = dumps({"t": "run", "program": program, "room": ROOM, "tools": tools}, 8 * FRAME)
        text.encode()
    except ValueError as error:
        raise ConfigurationError(f"the program or its tools cannot be sent: {error}") from None
    return text


def _report(
    bridge: Bridge,
    last: dict[str, Any],
    ended: Ended | None,
    status: int | None,
    limits: Limits,
    started: float,
    guarantees: dict[str, bool],
    notes: dict[str, str],
) -> ProgramReport:
    error, error_type, killed_by = None, None, ""
    if ended is not None:
        killed_by, error = ended.kind, str(ended)
        if ended.kind == "closed":
            killed_by, error = _how(status, limits)
    elif last["error"] is not None:
        error_type, error = last["error"]["type"][:200], last["error"]["text"][:_ERROR]
    if bridge.over_budget:
        spent = (
            f"the program asked for more than the {limits.calls} tool calls it may make; what it printed is incomplete"
        )
        error = f"{spent}\n{error}" if error else spent
        error_type = error_type or "ToolBudgetExceeded"
    elif bridge.refused and error is None:
        error = f"the program asked {bridge.refused} times for tools that it was not given"
    answer = last.get("answer") or []
    return ProgramReport(
        ok=error is None,
        stdout=bridge.out.text(),
        stderr=bridge.err.text(),
        value=answer[0] if answer else None,
        answered=bool(answer),
        error=error,
        error_type=error_type,
        killed_by=killed_by,
        tool_calls=bridge.calls,
        refused_calls=bridge.refused,
        budget_exceeded=bridge.over_budget,
        truncated=any(len(each.data) < each.seen for each in (bridge.out, bridge.err)),
        seconds=time.monotonic() - started,
        guarantees=guarantees,
        notes=notes,
    )


def _how(status: int | None, limits: Limits) -> tuple[str, str]:
    """Say how a program ended that sent no last frame, from its launcher's exit status."""
    if status is None:
        return "channel", "the program closed its channel to the host and was ended"
    if status == DEADLINE:
        return "timeout", f"the program was ended after {limits.seconds:g} s, its time limit"
    if status == CPU_TIME:
        return "cpu", "the program was ended by its limit on processor time"
    if status > 128:
        import signal

        number = status - 128
        name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
        return "signal", f"the program was ended by {name} before it had finished"
    return "", f"the program ended itself (exit status {status}) before it had finished"


def _positive(seconds: float) -> float:
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise WrongType(f"timeout is a number of seconds; got {seconds!r}")
    if not 0 < seconds < 1e7:
        raise ConfigurationError(f"timeout is a number of seconds above 0; got {seconds!r}")
    return float(seconds)


def _count(calls: int) -> int:
    if isinstance(calls, bool) or not isinstance(calls, int):
        raise WrongType(f"max_tool_calls is a whole number; got {calls!r}")
    if calls < 0:
        raise ConfigurationError(f"max_tool_calls is 0 or more; got {calls!r}")
    return calls
