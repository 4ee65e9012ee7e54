"""A launcher that was started, seen from the host: its process, its pipes, and how to be rid of both."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subprocess import Popen

__all__ = ["ANSWER", "Launched", "pipe"]

ANSWER = 1.0
"""Seconds for a launcher to end once it was told to; it takes some milliseconds."""


@dataclass(slots=True)
class Launched:
    """A launcher that was started, and the host's ends of its pipes."""

    process: Popen[bytes]
    requests: int
    replies: int
    out: int
    err: int
    leash: int
    """Closing it ends the program; it may be the same descriptor as ``replies``."""
    proven: Callable[[], None]
    """Called once the launcher has proved what holds: removes what was there for the proof."""
    first: bytes = b""
    """What is to be sent before anything else."""
    patience: float = 0.0
    """Seconds that output may take to arrive after the program's last frame."""

    failed: bool = False
    """Whether the conversation ended otherwise than by the program's last frame."""

    def release(self) -> None:
        """Let go of the leash, which ends the program; what it still has to say is not listened to."""
        if self.leash >= 0:
            os.close(self.leash)
            self.replies = -1 if self.replies == self.leash else self.replies
            self.leash = -1
        if self.requests >= 0:
            os.close(self.requests)
            self.requests = -1

    def status(self, seconds: float) -> int | None:
        """Return how the launcher ended; ``None`` where it has not, after waiting for some seconds."""
        import select
        from subprocess import TimeoutExpired

        try:  # subprocess would look now and then; the kernel tells at once
            ended = os.pidfd_open(self.process.pid)
        except (OSError, AttributeError):
            pass
        else:
            poller = select.poll()
            poller.register(ended, select.POLLIN)
            poller.poll(seconds * 1000)
            os.close(ended)
            seconds = 0.05
        try:
            return self.process.wait(seconds)
        except TimeoutExpired:
            return None

    def end(self) -> None:
        """End the program, and the launcher if it does not answer."""
        self.release()
        if self.status(ANSWER) is None:
            self.process.kill()
            self.process.wait()

    def close(self) -> None:
        """Close every descriptor that is still open."""
        for fd in {self.requests, self.replies, self.out, self.err, self.leash} - {-1}:
            os.close(fd)


def pipe(opened: list[int]) -> tuple[int, int]:
    """Make a pipe and note its ends; never on a standard number, where a daemon may have nothing open."""
    import fcntl

    ends = []
    for end in os.pipe():
        if end < 3:
            low, end = end, fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 3)
            os.close(low)
        opened.append(end)
        ends.append(end)
    return ends[0], ends[1]
