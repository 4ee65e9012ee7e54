"""Values as JSON text, both ways, on both sides of the channel: what is read is what was written, or it raises.

JSON's own types travel as themselves. Others are tagged: a tuple as ``{"$": "tuple", "v": [...]}``, and so
sets, bytes, dates, decimals, and dictionaries whose keys are not all plain strings. Subclasses, objects,
not-a-number and anything else raise; nothing is turned into a string to make it fit.
"""

from __future__ import annotations

import sys

try:  # the C halves of json; the module itself would load re, a third of the launcher's start (10 ms)
    from _json import encode_basestring as _quote
    from _json import make_scanner as _make_scanner
except ImportError:  # an interpreter without them
    from json.encoder import encode_basestring as _quote
    from json.scanner import make_scanner as _make_scanner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["DEPTH", "dumps", "loads"]

DEPTH = 64
"""Containers in containers, at most: JSON readers recurse in C, and a small thread's stack ends early."""
DIGITS = 400
"""Digits of an integer, at most: converting takes quadratic time (CVE-2020-10735); floats end at 309."""
_BITS = 1328  # 400 decimal digits
_KEY = 1 << 60  # integers below their own hash's modulus (2**61 - 1) cannot be made to collide
_TAG = "$"
_ISO = ("date", "datetime")


def dumps(value: Any, room: int, *, sets: bool = True, tuple_keys: bool = True) -> str:
    """Write a value as JSON text.

    Args:
        value: what is to be written.
        room: characters, at most; a value that needs more raises ``ValueError`` before it is built.
        sets: whether sets may be written; they have no order, so a call's arguments may not hold any.
        tuple_keys: whether a tuple may be a key or an element of a set; see ``loads``.
    """
    parts: list[str] = []
    _write(value, parts.append, [room, sets, tuple_keys], DEPTH)
    return "".join(parts)


def _write(value: Any, put: Callable[[str], None], how: list[Any], depth: int) -> None:
    kind = type(value)
    if kind is str:
        text = _quote(value) if len(value) <= how[0] else value  # too large either way, and not copied to see it
    elif value is None:
        text = "null"
    elif kind is bool:
        text = "true" if value else "false"
    elif kind is int:
        if value.bit_length() > _BITS:
            raise ValueError(f"an integer of more than {DIGITS} digits cannot cross between program and tools")
        text = int.__repr__(value)
    elif kind is float:
        if value - value != 0.0:
            raise ValueError(f"{value!r} is not a finite number and cannot cross between program and tools")
        text = float.__repr__(value)
    elif depth == 0:
        raise ValueError(f"a value nested deeper than {DEPTH} (or holding itself) cannot cross")
    elif kind is list:
        return _write_list(value, put, how, depth)
    elif kind is dict:
        return _write_dict(value, put, how, depth)
    else:
        return _write_tagged(kind, value, put, how, depth)
    _spend(how, len(text) + 1)
    put(text)
    return None


def _spend(how: list[Any], size: int) -> None:
    how[0] -= size
    if how[0] < 0:
        raise ValueError("the value is too large to cross between program and tools")


def _write_list(value: Any, put: Callable[[str], None], how: list[Any], depth: int) -> None:
    _spend(how, 2)
    before = "["
    for each in value:
        put(before)
        _write(each, put, how, depth - 1)
        before = ","
    put("]" if before == "," else "[]")


def _write_dict(value: dict[Any, Any], put: Callable[[str], None], how: list[Any], depth: int) -> None:
    _spend(how, 2)
    for key in value:
        if type(key) is not str or key == _TAG:
            for each in value:
                _check_key(each, how[2])
            pairs = [[key, each] for key, each in value.items()]
            return _write_pair("dict", pairs, put, how, depth)
    before = "{"
    for key, each in value.items():
        put(before)
        _write(key, put, how, depth)
        put(":")
        _write(each, put, how, depth - 1)
        before = ","
    put("}" if before == "," else "{}")
    return None


def _write_pair(tag: str, value: Any, put: Callable[[str], None], how: list[Any], depth: int) -> None:
    _spend(how, 20)
    put(f'{{"{_TAG}":"{tag}","v":')
    _write(value, put, how, depth - 1)
    put("}")


def _write_tagged(kind: type, value: Any, put: Callable[[str], None], how: list[Any], depth: int) -> None:
    if kind is tuple:
        return _write_pair("tuple", list(value), put, how, depth)
    if kind is set or kind is frozenset:
        if not how[1]:
            raise TypeError(
                f"a {kind.__name__} cannot be an argument of a tool: it has no order; pass sorted(...) or list(...)"
            )
        for each in value:
            _check_key(each, how[2])
        return _write_pair(kind.__name__, list(value), put, how, depth)
    if kind is bytes:
        _spend(how, 2 * len(value))
        return _write_pair("bytes", value.hex(), put, how, depth)
    dates = sys.modules.get("datetime")  # a date exists only where its module does
    if dates is not None and (kind is dates.date or kind is dates.datetime):
        if kind is dates.datetime and (value.fold or type(value.tzinfo) not in (type(None), dates.timezone)):
            raise TypeError(
                "a datetime with a named time zone would lose its name; convert it with astimezone(timezone.utc)"
            )
        return _write_pair(kind.__name__, value.isoformat(), put, how, depth)
    decimals = sys.modules.get("decimal")
    if decimals is not None and kind is decimals.Decimal and value.is_finite():
        return _write_pair("decimal", str(value), put, how, depth)
    raise TypeError(
        f"a value of type {kind.__name__} cannot cross between program and tools; use str, numbers, lists, dicts"
    )


def _check_key(key: Any, tuples: bool) -> None:
    """Refuse what could not be a key again on the other side."""
    kind = type(key)
    if kind is int and not -_KEY < key < _KEY:
        raise ValueError("an integer beyond 60 bits cannot be a key or an element of a set here; use its text")
    if kind is tuple or kind is frozenset:
        if not tuples:
            raise TypeError(
                f"a {kind.__name__} cannot be a key or an element of a set here; use text or a list of pairs"
            )
        for each in key:
            _check_key(each, tuples)


def loads(text: str, *, tuple_keys: bool = True) -> Any:
    """Read what ``dumps`` wrote; anything that it would not have written raises ``ValueError``.

    Args:
        text: JSON text without white space around it.
        tuple_keys: whether tuples may be keys. The host says no to a program: the hashes of tuples and of
            huge integers can be made to collide, and a dictionary of colliding keys takes quadratic time.
    """
    if text.count("[") + text.count("{") > DEPTH:
        _check_depth(text)
    try:
        value, end = (_scan if tuple_keys else _scan_flat)(text, 0)
    except StopIteration:
        raise ValueError("not JSON") from None
    except (TypeError, RecursionError) as error:  # an unhashable key; JSON nested past the interpreter's limit
        raise ValueError(str(error)) from None
    if end != len(text):
        raise ValueError("text after the JSON value")
    if "\\u" in text and ("\\ud" in text or "\\uD" in text):
        dumps(value, 8 * len(text)).encode()  # UnicodeEncodeError, a ValueError: half a surrogate pair is no text
    return value


def _check_depth(text: str) -> None:
    depth, at, strings = 0, 0, text.split('"')
    while at < len(strings):  # every second piece is inside a string, unless a quote there was escaped
        piece = strings[at]
        for char in piece:
            if char in "[{":
                depth += 1
                if depth > DEPTH + 2:  # the frame itself and its list of arguments
                    raise ValueError(f"nested deeper than {DEPTH}")
            elif char in "]}":
                depth -= 1
        at += 1
        while at < len(strings) and _escapes(strings[at]):
            at += 1
        at += 1


def _escapes(piece: str) -> bool:
    """Whether a piece ends in an odd number of backslashes, so that the quote after it belongs to the string."""
    return (len(piece) - len(piece.rstrip("\\"))) % 2 == 1


def _int(text: str) -> int:
    if len(text) > DIGITS + 1:
        raise ValueError(f"an integer of more than {DIGITS} digits")
    return int(text)


def _float(text: str) -> float:
    value = float(text)
    if value - value != 0.0:
        raise ValueError("a number that is not finite")
    return value


def _constant(text: str) -> float:
    raise ValueError(f"{text} is not JSON")


def _pairs(pairs: list[tuple[str, Any]]) -> Any:
    return _object(pairs, True)


def _pairs_flat(pairs: list[tuple[str, Any]]) -> Any:
    return _object(pairs, False)


def _object(pairs: list[tuple[str, Any]], tuple_keys: bool) -> Any:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice in one object")
    if _TAG not in value:
        return value
    if value.keys() != {_TAG, "v"}:
        raise ValueError("a tagged value with other keys")
    return _untag(value[_TAG], value["v"], tuple_keys)


def _untag(tag: Any, value: Any, tuple_keys: bool) -> Any:
    if type(value) is list:
        if tag == "tuple":
            return tuple(value)
        if tag == "set" or tag == "frozenset":
            for each in value:
                _check_key(each, tuple_keys)
            return set(value) if tag == "set" else frozenset(value)
        if tag == "dict":
            for pair in value:
                if type(pair) is not list or len(pair) != 2:
                    raise ValueError("a tagged dict is a list of pairs")
                _check_key(pair[0], tuple_keys)
            return {key: each for key, each in value}  # noqa: C416  # dict(value) would take strings of two for pairs
    elif type(value) is str:
        if tag == "bytes":
            return bytes.fromhex(value)
        if tag in _ISO:
            import datetime

            return (datetime.date if tag == "date" else datetime.datetime).fromisoformat(value)
        if tag == "decimal" and len(value) <= DIGITS:
            return _decimal(value)
    raise ValueError("a tag that is not known")


def _decimal(text: str) -> Any:
    import decimal

    try:
        value = decimal.Decimal(text)
    except decimal.InvalidOperation:
        raise ValueError("not a decimal") from None
    if not value.is_finite():
        raise ValueError("a number that is not finite")
    return value


class _Context:
    strict = True
    object_hook = None
    parse_float = staticmethod(_float)
    parse_int = staticmethod(_int)
    parse_constant = staticmethod(_constant)
    memo: dict[str, str] = {}  # noqa: RUF012  # json's scanner in Python wants one; it clears it after each call

    def __init__(self, pairs: Callable[[list[tuple[str, Any]]], Any]) -> None:
        self.object_pairs_hook = pairs


_scan: Callable[[str, int], tuple[Any, int]] = _make_scanner(_Context(_pairs))  # type: ignore[arg-type]
_scan_flat: Callable[[str, int], tuple[Any, int]] = _make_scanner(_Context(_pairs_flat))  # type: ignore[arg-type]
