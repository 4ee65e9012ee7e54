"""The machine: which step of a run may follow which, in one table.

Rules:

- The state answers "what kind of runtime step is happening?", never "where in the reasoning?"; that
  is the ``phase`` of an action.
- Each entry of ``TABLE`` is a next state and an egress: what the runtime must now do. Nothing else in
  the library decides what is legal, and the diagram in the docs is drawn from here.
- An illegal move raises ``TransitionError`` and changes nothing.
- A run is interrupted between actions only, so nothing is ever half done.
"""

from __future__ import annotations

from enum import Enum

from brain.errors import TransitionError

__all__ = ["TABLE", "Egress", "State", "Symbol", "diagram", "move"]


class State(Enum):
    """The state of a run."""

    IDLE = "IDLE"
    REASONING = "REASONING"
    ACTING = "ACTING"
    INTERRUPTED = "INTERRUPTED"
    TERMINATED = "TERMINATED"


class Symbol(Enum):
    """What the policy wants, or what happens to the run."""

    ASK = "ask"
    ACT = "act"
    FINISH = "finish"
    INTERRUPT = "interrupt"
    FAIL = "fail"


class Egress(Enum):
    """What the runtime must do on a move."""

    CALL_MODEL = "call the model"
    CALL_TOOL = "call the tool"
    RESPOND = "respond"
    HAND_OVER = "hand over the journal"
    REPORT = "report the failure"


_WORK = {
    Symbol.ASK: (State.REASONING, Egress.CALL_MODEL),
    Symbol.ACT: (State.ACTING, Egress.CALL_TOOL),
}
_END = {
    Symbol.FINISH: (State.TERMINATED, Egress.RESPOND),
    Symbol.FAIL: (State.TERMINATED, Egress.REPORT),
}
_STOP = {Symbol.INTERRUPT: (State.INTERRUPTED, Egress.HAND_OVER)}

TABLE: dict[State, dict[Symbol, tuple[State, Egress]]] = {
    State.IDLE: {**_WORK, **_END},
    State.REASONING: {**_WORK, **_END, **_STOP},
    State.ACTING: {**_WORK, **_END, **_STOP},
    State.INTERRUPTED: {**_WORK},
    State.TERMINATED: {},
}
"""State -> symbol -> (next state, egress)."""


def move(state: State, symbol: Symbol) -> tuple[State, Egress]:
    """Return the next state and what to do; raise ``TransitionError`` for a move that is not in the table."""
    try:
        return TABLE[state][symbol]
    except KeyError:
        legal = ", ".join(each.value for each in TABLE[state]) or "nothing"
        raise TransitionError(f"{symbol.value!r} is not possible in state {state.value}; possible: {legal}") from None


def diagram() -> str:
    """Draw the table as a Mermaid state diagram."""
    lines = ["stateDiagram-v2", f"    [*] --> {State.IDLE.value}"]
    for state, moves in TABLE.items():
        for symbol, (following, egress) in moves.items():
            lines.append(f"    {state.value} --> {following.value}: {symbol.value} / {egress.value}")
    lines.append(f"    {State.TERMINATED.value} --> [*]")
    return "\n".join(lines)
