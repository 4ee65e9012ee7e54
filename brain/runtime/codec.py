"""Journal entries as JSON, and back.

What JSON knows is written as it is. Tuples, sets, bytes, dates, odd floats and dicts with other keys
than strings are written under a tag, without loss. Any other object cannot be rebuilt from an untrusted
file: its place says ``{"$lost": type}`` and reads back as ``Lost``, which says so too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import brain.errors
from brain.errors import BrainError
from brain.messages import Transcript
from brain.policy import Act, Ask, Execute, Note, Work
from brain.types import Observation, Reply, ToolCall, Usage

if TYPE_CHECKING:
    from brain.runtime.journal import Entry

__all__ = ["Lost", "decode", "encode", "entry_from_dict", "entry_to_dict"]

_DEPTH = 100
"""Nesting beyond which a value counts as lost; json itself gives up near 1,000."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Stands where a value could not be written: what type it had, and its text."""

    type: str
    text: str = ""


def encode(value: Any, depth: int = 0) -> Any:
    """Return a value that strict JSON can hold and ``decode`` turns back."""
    if value is None or isinstance(value, bool | int | str):
        return value if type(value) in (type(None), bool, int, str) else _lost(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if depth > _DEPTH:
        return _lost(value)
    kind = type(value)
    if kind is list:
        return [encode(each, depth + 1) for each in value]
    if kind is dict:
        if all(type(key) is str and not key.startswith("$") for key in value):
            return {key: encode(each, depth + 1) for key, each in value.items()}
        return {"$dict": [[encode(key, depth + 1), encode(each, depth + 1)] for key, each in value.items()]}
    if kind is tuple:
        return {"$tuple": [encode(each, depth + 1) for each in value]}
    if kind in (set, frozenset):
        return {"$" + kind.__name__: sorted((encode(each, depth + 1) for each in value), key=repr)}
    if kind is bytes:
        return {"$bytes": value.hex()}
    name = f"{kind.__module__}.{kind.__name__}"
    if name in ("datetime.datetime", "datetime.date", "datetime.time"):
        return {"$" + kind.__name__: value.isoformat()}
    return _lost(value)


def _lost(value: Any) -> dict[str, str]:
    if isinstance(value, Lost):
        return {"$lost": value.type, "text": value.text}
    try:
        text = str(value)[:200]  # enough to recognise it by
    except Exception as error:
        text = f"<no text: {type(error).__name__}>"
    return {"$lost": type(value).__name__, "text": text}


def decode(value: Any) -> Any:
    """Return what ``encode`` was given."""
    if isinstance(value, list):
        return [decode(each) for each in value]
    if not isinstance(value, dict):
        return value
    for tag, inner in value.items():
        if not tag.startswith("$"):
            break
        if tag == "$float":
            return float(inner)
        if tag == "$dict":
            return {decode(key): decode(each) for key, each in inner}
        if tag == "$tuple":
            return tuple(decode(each) for each in inner)
        if tag in ("$set", "$frozenset"):
            return (set if tag == "$set" else frozenset)(decode(each) for each in inner)
        if tag == "$bytes":
            return bytes.fromhex(inner)
        if tag in ("$datetime", "$date", "$time"):
            import datetime

            return getattr(datetime, tag[1:]).fromisoformat(inner)
        if tag == "$lost":
            return Lost(str(inner), str(value.get("text", "")))
    return {key: decode(each) for key, each in value.items()}


def entry_to_dict(entry: Entry, index: int, written: dict[int, tuple[int, int]]) -> dict[str, Any]:
    """Return an entry as a dict; ``written`` remembers which messages earlier entries have said."""
    line: dict[str, Any] = {"i": index, "digest": entry.digest, **_action(entry.action, index, written)}
    outcome = entry.outcome
    if isinstance(outcome, Reply):
        line["reply"] = _set_fields(outcome)
        line["reply"]["tool_calls"] = [_set_fields(call) for call in outcome.tool_calls]
        if outcome.usage is not None:
            line["reply"]["usage"] = _set_fields(outcome.usage)
        if not outcome.tool_calls:
            del line["reply"]["tool_calls"]
    elif isinstance(outcome, Observation):
        line["observation"] = _set_fields(outcome)
    elif isinstance(outcome, BrainError):
        line["error"] = {
            "type": type(outcome).__name__,
            "message": str(outcome),
            "fields": {key: encode(each) for key, each in vars(outcome).items() if key != "denied_action"},
        }
    elif outcome is not None:
        line["report"] = _set_fields(outcome)
    if entry.performed is not None:
        line["performed"] = _action(entry.performed, index, {})
    if entry.masked:
        line["masked"] = entry.masked
    line["at"], line["seconds"] = round(entry.at, 6), round(entry.seconds, 6)
    return line


def entry_from_dict(line: dict[str, Any], transcripts: list[Transcript]) -> Entry:
    """Return the entry a dict stands for; ``transcripts`` holds those of the entries read before it."""
    from brain.runtime.journal import Entry

    action = _read_action(line, transcripts)
    transcripts.append(action.messages if isinstance(action, Ask) else Transcript())
    outcome: Any = None
    if "reply" in line:
        values = {key: decode(each) for key, each in line["reply"].items()}
        values["tool_calls"] = tuple(ToolCall(**call) for call in values.get("tool_calls", ()))
        if values.get("usage") is not None:
            values["usage"] = Usage(**values["usage"])
        outcome = Reply(**values)
    elif "observation" in line:
        outcome = Observation(**{key: decode(each) for key, each in line["observation"].items()})
    elif "report" in line:
        from brain.sandbox.base import ProgramReport

        outcome = ProgramReport(**{"ok": False, **{key: decode(each) for key, each in line["report"].items()}})
    elif "error" in line:
        outcome = _read_error(line["error"])
    performed = _read_action(line["performed"], []) if "performed" in line else None
    if isinstance(performed, Note):
        raise ValueError("a note is never performed")
    times = float(line["at"]), float(line["seconds"])
    return Entry(action, outcome, str(line["digest"]), performed, *times, str(line.get("masked", "")))


def begun_to_dict(index: int | str, wanted: Work) -> dict[str, Any]:
    """Return the line that is written before an action is performed; of a question to the model, only that it is."""
    if isinstance(wanted, Ask):
        return {"begin": index, "ask": {"messages": [], "phase": wanted.phase, "agent": wanted.agent}}
    return {"begin": index, **_action(wanted, 0, {})}


def call_to_dict(index: int, number: int, entry: Entry) -> dict[str, Any]:
    """Return the line of a call that the program of an action has made, the ``number``-th from 0."""
    line = entry_to_dict(entry, index, {})
    del line["i"]
    return {"within": index, "n": number, **line}


def work_from_dict(line: dict[str, Any]) -> Work:
    """Return the action that a line says was begun."""
    action = _read_action(line, [])
    if isinstance(action, Note):
        raise ValueError("a note is never performed")
    return action


def _set_fields(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that differ from their defaults."""
    pairs = {each.name: (getattr(value, each.name), each.default) for each in fields(value)}
    return {name: encode(now) for name, (now, default) in pairs.items() if now is not default and now != default}


def _action(action: Work | Note, index: int, written: dict[int, tuple[int, int]]) -> dict[str, Any]:
    kind = type(action).__name__.lower()
    if not isinstance(action, Ask):
        return {kind: _set_fields(action)}
    said = {
        name: encode(value)
        for name, value, default in (
            ("tools", list(action.tools), []),
            ("tool_choice", action.tool_choice, "none"),
            ("schema", None if action.schema is None else dict(action.schema), None),
            ("phase", action.phase, ""),
            ("agent", action.agent, ""),
        )
        if value != default
    }
    storage = action.messages.storage
    base, length = written.get(storage, (-1, 0))
    if length > len(action.messages):
        base, length = -1, 0
    if base >= 0:
        said["from"] = base
    said["messages"] = [encode(message) for message in action.messages[length:]]
    written[storage] = (index, len(action.messages))
    return {kind: said}


def _read_action(line: dict[str, Any], transcripts: list[Transcript]) -> Work | Note:
    if "act" in line:
        return Act(**{"input": None, **{key: decode(each) for key, each in line["act"].items()}})
    if "execute" in line:
        return Execute(**{key: decode(each) for key, each in line["execute"].items()})
    if "note" in line:
        return Note(**{key: decode(each) for key, each in line["note"].items()})
    said = line["ask"]
    before = transcripts[said["from"]] if "from" in said else Transcript()
    messages = before + [decode(message) for message in said["messages"]]
    if not all(isinstance(message, dict) for message in messages):
        raise ValueError("a message is not an object")
    return Ask(
        messages,
        tuple(decode(said.get("tools", []))),
        decode(said.get("tool_choice", "none")),
        decode(said.get("schema")),
        said.get("phase", ""),
        said.get("agent", ""),
    )


def _read_error(said: dict[str, Any]) -> BrainError:
    """Rebuild an error of this library; nothing else is ever looked up by a name from a file."""
    name = said["type"]
    kind = getattr(brain.errors, name, BrainError) if name in brain.errors.__all__ else BrainError
    if not (isinstance(kind, type) and issubclass(kind, BrainError)):
        kind = BrainError
    error = kind(str(said["message"]))
    known = vars(error)
    for key, value in said.get("fields", {}).items():
        if key in known:
            setattr(error, key, decode(value))
    return error
