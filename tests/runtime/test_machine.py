"""The machine: one table decides which step of a run may follow which."""

from __future__ import annotations

import pytest

from brain.errors import TransitionError
from brain.runtime import TABLE, Egress, State, Symbol, diagram, move

LEGAL = {
    ("IDLE", "ask", "REASONING", "call the model"),
    ("IDLE", "act", "ACTING", "call the tool"),
    ("IDLE", "finish", "TERMINATED", "respond"),
    ("IDLE", "fail", "TERMINATED", "report the failure"),
    ("REASONING", "ask", "REASONING", "call the model"),
    ("REASONING", "act", "ACTING", "call the tool"),
    ("REASONING", "finish", "TERMINATED", "respond"),
    ("REASONING", "interrupt", "INTERRUPTED", "hand over the journal"),
    ("REASONING", "fail", "TERMINATED", "report the failure"),
    ("ACTING", "ask", "REASONING", "call the model"),
    ("ACTING", "act", "ACTING", "call the tool"),
    ("ACTING", "finish", "TERMINATED", "respond"),
    ("ACTING", "interrupt", "INTERRUPTED", "hand over the journal"),
    ("ACTING", "fail", "TERMINATED", "report the failure"),
    ("INTERRUPTED", "ask", "REASONING", "call the model"),
    ("INTERRUPTED", "act", "ACTING", "call the tool"),
}


def test_the_table_is_the_specified_one() -> None:
    """Every move there is, and no other."""
    moves = {
        (state.value, symbol.value, following.value, egress.value)
        for state, row in TABLE.items()
        for symbol, (following, egress) in row.items()
    }
    assert moves == LEGAL


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("symbol", Symbol)
def test_a_move_is_in_the_table_or_an_error(state: State, symbol: Symbol) -> None:
    """An illegal move says what would have been possible."""
    legal = {(each[0], each[1]): each[2:] for each in LEGAL}
    if (state.value, symbol.value) in legal:
        following, egress = move(state, symbol)
        assert (following.value, egress.value) == legal[state.value, symbol.value]
        assert isinstance(egress, Egress)
    else:
        with pytest.raises(TransitionError, match=f"not possible in state {state.value}"):
            move(state, symbol)


def test_the_diagram_has_every_move() -> None:
    """The picture is drawn from the table."""
    drawn = diagram()
    assert drawn.startswith("stateDiagram-v2")
    assert all(f"    {a} --> {c}: {b} / {d}" in drawn for a, b, c, d in LEGAL)
    assert len(drawn.splitlines()) == len(LEGAL) + 3
