"""Server-sent events, read leniently."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

__all__ = ["events"]


def events(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the name and data of each event in the lines of a stream.

    Comments and events without data are passed over. An event that the end of the stream cuts short is
    yielded too: what it is worth is for the reader to say. A bare line of JSON counts as data: servers
    write errors into streams that way.
    """
    name, data = "", list[str]()
    for raw in lines:
        for line in raw.lstrip("\ufeff").removesuffix("\n").removesuffix("\r").split("\r"):
            if not line:
                if data:
                    yield name, "\n".join(data)
                name, data = "", []
            elif line.startswith("{") and not data:
                yield name, line
            elif not line.startswith(":"):
                field, _, value = line.partition(":")
                value = value.removeprefix(" ")
                if field == "data":
                    data.append(value)
                elif field == "event":
                    name = value
    if data:
        yield name, "\n".join(data)
