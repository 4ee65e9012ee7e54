"""Demo tools for the command line: safe, offline, and real."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

__all__ = ["DEMO_TOOLS", "calculator", "clock", "days_between"]

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_LONGEST, _LARGEST = 200, 10**100
"""Characters of an expression, and size of any number in it: beyond any sum a demo asks for, and quick."""


def calculator(expression: str) -> str:
    """Work out an arithmetic expression with + - * / // % ** and parentheses."""
    if len(expression) > _LONGEST:
        raise ValueError(f"the expression is longer than {_LONGEST} characters")
    try:
        value = _value(ast.parse(expression.strip().replace("^", "**"), mode="eval").body)
    except SyntaxError:
        raise ValueError(f"not an arithmetic expression: {expression}") from None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def clock(timezone: str = "UTC") -> str:
    """Tell the date and time now, in UTC or in a named time zone such as Europe/Lisbon."""
    zone: Any = UTC
    if timezone.strip() and timezone.strip().upper() != "UTC":
        from zoneinfo import ZoneInfo

        try:
            zone = ZoneInfo(timezone.strip())
        except (KeyError, ValueError, OSError):
            raise ValueError(f"no time zone is called {timezone!r}") from None
    return datetime.now(zone).strftime("%A, %Y-%m-%d %H:%M:%S %Z")


def days_between(dates: str) -> str:
    """Count the days between two dates, given as YYYY-MM-DD, YYYY-MM-DD."""
    first, _, second = dates.partition(",")
    return str(abs((date.fromisoformat(second.strip()) - date.fromisoformat(first.strip())).days))


DEMO_TOOLS: dict[str, Callable[..., str]] = {
    "calculator": calculator,
    "clock": clock,
    "days_between": days_between,
}
"""The tools that ``--tool`` knows."""


def _value(node: ast.expr) -> Any:
    """Work out an expression by its tree; nothing but numbers and operators is allowed."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return _bounded(node.value)
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_value(node.operand))
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        left, right = _value(node.left), _value(node.right)
        if isinstance(node.op, ast.Pow) and abs(right) > 1000:
            raise ValueError("the exponent is larger than 1000")
        return _bounded(_BINARY[type(node.op)](left, right))
    raise ValueError("only numbers, + - * / // % ** and parentheses are understood")


def _bounded(value: Any) -> Any:
    if isinstance(value, complex) or abs(value) > _LARGEST:
        raise ValueError("the result is not a number of at most 100 digits")
    return value
