"""What stands after ``Action`` and ``Action Input`` in the text protocol of ReAct.

A tool is named in many ways: bare, in quotes or markdown, as ``search[query]`` or ``search(query)``, as a
JSON object. Where a known tool is meant, its name is returned; else what the model wrote.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection

__all__ = ["FENCE", "WRAPPING", "json_end", "read_action", "read_input"]

FENCE = re.compile(r"[ \t]{0,12}(`{3,}|~{3,})")
"""The beginning of a code fence."""

WRAPPING = " \t*_`\"'“”‘’<>"
_NO_TOOL = re.compile(
    r"(none|n/?a|null|nil|-+|no (action|tool)s?( needed| required)?)\s*([.(,;:–—-].*)?$", re.IGNORECASE
)
_INLINE = re.compile(r"\s{1,20}Action[ _-]?Input\s{0,20}[:\uff1a]", re.IGNORECASE)
_ANSWERS = {"finish", "final answer", "final_answer", "finalanswer"}
_CALL = re.compile(r"\s*(?P<name>[^\[\](){}\n]{1,100}?)\s*(?P<open>[\[(])", re.DOTALL)
_POLITE = re.compile(r"(?:use|call|run|invoke|using)\s+(?:the\s+)?(?P<name>.+?)(?:\s+tool)?$", re.IGNORECASE)


def read_action(said: str, given: str | None, tools: Collection[str]) -> tuple[str, str, str] | None:
    """Read what stands after ``Action``: ("action", name, input), ("final", "", answer) or ("invalid", "", problem).

    ``None`` means that the model says it needs no tool.
    """
    if not said:
        return "invalid", "", "`Action:` names no tool."
    bracketed = said[1:-1].strip() if said[0] == "[" and said[-1] == "]" else ""
    if bracketed in tools:
        return "action", bracketed, given or ""
    if said[0] in "{[`~":
        blob = _blob(read_input(said))
        if blob is None and said[0] not in "`~":
            return "invalid", "", "The JSON after `Action:` cannot be read."
        if blob is not None:
            name, value = blob
            return _ended(name, given if given is not None and not value else value, tools)
        if "\n" in said:
            return "invalid", "", "What stands after `Action:` cannot be read as the name of a tool."
    first, _, rest = said.partition("\n")
    inline = _INLINE.split(first, maxsplit=1)
    if len(inline) == 2 and given is None and (known := _known(inline[0], tools)) is not None:
        return "action", known, read_input((inline[1] + (f"\n{rest}" if rest else "")).strip())
    unlabelled = rest.strip()  # a block or a JSON object below the name can only be its input
    value = given if given is not None else read_input(unlabelled) if unlabelled[:1] == "{" or FENCE.match(rest) else ""
    known = _known(first, tools)
    if known is not None:
        return "action", known, value
    if _NO_TOOL.match(first.strip(WRAPPING)):
        return None
    called = _called(said, tools)
    if called is not None and (called[0] in tools or given is None):
        name, inside = called
        return _ended(name, inside if given is None else given, tools)
    return _ended(first.strip(WRAPPING).rstrip(".").rstrip(WRAPPING), value, tools)


def _ended(name: str, value: str, tools: Collection[str]) -> tuple[str, str, str]:
    """Tell an action from an answer in the clothes of one: ``Finish[...]``."""
    known = _known(name, tools)
    if known is not None:
        return "action", known, value
    if name.casefold() in _ANSWERS:
        return ("final", "", value) if value else ("invalid", "", "The final answer is empty.")
    return ("action", name, value) if name else ("invalid", "", "`Action:` names no tool.")


def _known(said: str, tools: Collection[str]) -> str | None:
    """Find the tool that a model means: by its name, or by its name with what models put around one."""
    said = said.strip()
    if said in tools:
        return said
    if len(said) > 300:  # no name; the patterns below are for names
        return None
    bare = said.split("  #")[0].split("\t#")[0].strip(WRAPPING)
    candidates = [bare, bare.rstrip(".,;:!").strip(WRAPPING)]
    polite = _POLITE.match(candidates[-1])
    if polite is not None:
        candidates.append(polite["name"].strip(WRAPPING))
    for candidate in candidates:
        if candidate in tools:
            return candidate
    folded = _folded(candidates[1])
    alike = [name for name in tools if _folded(name) == folded] if folded else []
    return alike[0] if len(alike) == 1 else None


def _folded(name: str) -> str:
    return re.sub(r"[\s_-]+", "_", name.casefold())


def _called(said: str, tools: Collection[str]) -> tuple[str, str] | None:
    """Read ``name[input]`` or ``name(input)``; the bracket must be the last thing said."""
    match = _CALL.match(said)
    if match is None:
        return None
    name = match["name"].strip(WRAPPING)
    closing = "]" if match["open"] == "[" else ")"
    end = said.rstrip(" \t\n.`*").rfind(closing)
    known = _known(name, tools)
    if end < match.end() or (known is None and not re.fullmatch(r"[\w.-]+", name)):
        return None
    if said[end + 1 :].strip(" \t.`*") and known is None:
        return None
    return known or name, _argument(said[match.end() : end].strip())


def _argument(inside: str) -> str:
    """Return the input of a call: a single text without its quotes, keyword arguments as a JSON object."""
    quoted = re.fullmatch(r"(?:\w+\s*=\s*)?(?P<quote>[\"'])(?P<text>(?:(?!(?P=quote))[^\\\n])*)(?P=quote)", inside)
    if quoted is not None:
        return quoted["text"]
    if len(inside) <= 2000 and re.match(r"\w+\s*=(?!=)", inside):  # longer than any call by hand
        import ast

        try:
            call = ast.parse(f"f({inside})", mode="eval").body
            if isinstance(call, ast.Call) and not call.args and all(each.arg for each in call.keywords):
                return json.dumps(
                    {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}, ensure_ascii=False
                )
        except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
            pass  # not keyword arguments after all: the text is the input
    return inside


def _blob(text: str) -> tuple[str, str] | None:
    """Read an action written as a JSON object, as other libraries teach it to models."""
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        return None
    name = next(
        (value[key] for key in ("action", "name", "tool", "tool_name") if isinstance(value.get(key), str)), None
    )
    if not name:
        return None
    keys = ("action_input", "arguments", "args", "input", "tool_input", "parameters")
    given = next((value[key] for key in keys if key in value), "")
    return name.strip(), given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def read_input(value: str) -> str:
    """Return an action's input: without the fence around it, without chatter after a JSON value."""
    fence = FENCE.match(value)
    if fence is not None:
        first, _, rest = value.partition("\n")
        close = re.search(rf"^[ \t]*{re.escape(fence[1])}[ \t]*$", rest, re.MULTILINE)
        if close is not None:
            return rest[: close.start()].strip("\n")
        if rest or not first[fence.end() :].strip("`~ "):
            return rest.strip()
        return first.strip("`~ ")
    end = json_end(value, 0)
    if end:
        segment, rest = value[:end], value[end:]
        line = rest.partition("\n")[0].strip()
        if not line or segment[0] == "{":
            try:
                json.loads(segment, strict=False)
            except (ValueError, RecursionError):
                return value
            return segment
    return value


def json_end(text: str, start: int) -> int:
    """Return where the object or list that begins at ``start`` ends; 0 if none begins there or it has no end."""
    opening = _OPENING.match(text, start)
    if opening is None:
        return 0
    begin = opening.end() - 1
    depth = 0
    for token in _TOKEN.finditer(text, begin):
        if token[0] in "{[":
            depth += 1
        elif token[0] in "}]":
            depth -= 1
            if not depth:
                return token.end()
    return 0


_OPENING = re.compile(r"\s*[{\[]")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\]]', re.DOTALL)
