"""Reads what is no dataclass: the route a model chooses, and the steps of a plan.

A route counts only if it is one of those offered, and only where it is given as the answer: a route's
name somewhere in a sentence is talk.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from brain.errors import StructureError
from brain.structured.find import extract

__all__ = ["Plan", "Route", "read_plan", "read_route"]

_ROUTE_KEYS = ("next", "route", "choice", "next_step", "next_node", "step", "node", "decision", "answer", "action")
_STEP_LISTS = ("steps", "plan", "subgoals", "tasks")
_STEP_TEXTS = ("step", "description", "task", "text", "title", "name", "action", "goal", "subgoal", "content")
_AROUND = " \t\r\n\"'`*_.,;:!?()[]{}<>“”‘’«»"
_LABEL = re.compile(
    r"^[ \t>*_#-]{0,10}(?:next|route|choice|next[ _](?:step|node)|step|node|decision|answer)[*_` ]{0,5}[:=\uff1a]"
    r"(.{1,200})$",
    re.IGNORECASE | re.MULTILINE,
)
_ITEM = re.compile(r"^[ \t]{0,8}(?:(?:step[ \t]{1,4})?\d{1,3}[.):][ \t]{0,8}|[-*+•][ \t]{1,8})(\S.*)$", re.IGNORECASE)
_INDEX = re.compile(r"\s{0,8}(\d{1,9})(?!\d)\s{0,8}(?:[#:.)\-–].{0,500})?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Route:
    """What a model said about where to go."""

    next: str | None
    """The route it chose, as it was offered; ``None`` if it chose none of them."""
    said: str = ""
    """What it wrote in that place, where that is no route; ``""`` if the reply names nothing at all."""

    @property
    def status(self) -> str:
        """``ok``; ``unknown``: it chose what was not offered; ``unparsed``: no choice can be read."""
        return "ok" if self.next is not None else "unknown" if self.said else "unparsed"


def read_route(text: str, routes: Iterable[str], default: str | None = None) -> Route:
    """Read which of the offered routes a reply chooses.

    It may be chosen in JSON (``{"next": "search"}``), after a label (``Route: search``), or by its bare
    name; case, white space, markdown and final punctuation do not matter.

    Args:
        text: the reply.
        routes: the routes on offer.
        default: the route to take when none can be read, or one that is not on offer; ``said`` still tells.
    """
    offered = list(routes)
    said = _said(text, offered)
    chosen = _match(said, offered) if said else None
    return Route(chosen, "") if chosen is not None else Route(default, said)


def _said(text: str, routes: list[str]) -> str:
    try:
        value = extract(text, "object")
    except StructureError:
        if "{" in text.replace("{}", "") and '"' in text:
            return ""  # JSON that cannot be read: what it would say is a guess
    else:
        return _in_object(value)
    bare = text.rpartition("</think>")[2].strip()
    labelled = [match.strip() for match in _LABEL.findall(bare)]
    if len({_plain(each) for each in labelled}) == 1:
        return str(labelled[0]).strip(_AROUND)
    if labelled:
        return ""
    return bare if _match(bare, routes) is not None else ""


def _in_object(value: Mapping[str, Any]) -> str:
    lower = {key.strip().lower(): each for key, each in value.items()}
    given = next((lower[key] for key in _ROUTE_KEYS if key in lower), None)
    if given is None and len(lower) == 1:
        given = next(iter(lower.values()))
    return given.strip() if isinstance(given, str) else ""


def _match(said: str, routes: list[str]) -> str | None:
    if said in routes:
        return said
    for form in (str.casefold, _plain):
        fitting = [route for route in routes if form(route.strip()) == form(said.strip())]
        if len(fitting) == 1:
            return fitting[0]
    return None


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "_", name.strip(_AROUND).casefold())


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of a plan."""

    steps: tuple[str, ...]
    depends_on: tuple[int, ...] = ()
    """The indices that the plan gives as ``depends_on``, where it gives any."""


def read_plan(text: str) -> Plan:
    """Read the steps of a plan from JSON or from a numbered or bulleted list.

    Raises:
        StructureError: there are none, or they cannot be read.
    """
    items = _items(text)
    try:
        value = extract(text, "any")
    except StructureError as error:
        if items and "{" not in text:
            return Plan(tuple(items))
        raise StructureError(f"No plan can be read: {error}") from error
    if isinstance(value, Mapping):
        lower = {key.strip().lower(): each for key, each in value.items()}
        steps = next((lower[key] for key in _STEP_LISTS if key in lower), None)
        depends_on = _indices(lower.get("depends_on", []))
    elif items and not text.lstrip().startswith(("[", "`", "<")):
        return Plan(tuple(items))  # a list in words, with something in brackets in it
    else:
        steps, depends_on = value, ()
    if isinstance(steps, Mapping):
        steps = list(steps.values())
    elif isinstance(steps, str):
        steps = _items(steps) or steps
    if not isinstance(steps, list):
        raise StructureError(f"No plan can be read: expected a list of steps, got {_kind(steps)}.")
    read = tuple(step for step in map(_step, steps) if step)
    if not read:
        raise StructureError("The plan has no steps.")
    if any(index >= len(read) for index in depends_on):
        raise StructureError(f"The plan has {len(read)} steps, and depends_on names {max(depends_on)}, counted from 0.")
    return Plan(read, depends_on)


def _items(text: str) -> list[str]:
    """Return the items of a numbered or bulleted list."""
    return [match[1].strip() for line in text.splitlines() if (match := _ITEM.match(line)) is not None]


def _step(step: Any) -> str:
    if isinstance(step, str):
        return step.strip()
    if isinstance(step, Mapping):
        for key in _STEP_TEXTS:
            if isinstance(step.get(key), str) and step[key].strip():
                return str(step[key]).strip()
        if len(step) == 1:
            ((key, value),) = step.items()
            if isinstance(value, str | int | float):
                return f"{key}: {value}"
    raise StructureError(f"No plan can be read: a step is a text, got {_kind(step)}.")


def _indices(given: Any) -> tuple[int, ...]:
    indices = []
    for each in given if isinstance(given, list) else [given]:
        match = _INDEX.fullmatch(each) if isinstance(each, str) else None
        if match is not None:
            indices.append(int(match[1]))
        elif type(each) is int and each >= 0:
            indices.append(each)
        else:
            raise StructureError(f"No plan can be read: depends_on holds {_kind(each)}, expected indices of steps.")
    return tuple(indices)


def _kind(value: Any) -> str:
    return f"{value!r:.60}" if value is None or isinstance(value, str | int | float | bool) else type(value).__name__
