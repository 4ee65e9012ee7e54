"""Programs in a confined process of this machine: pure Python, no engine, some tens of milliseconds."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from brain.errors import ConfigurationError, SandboxUnavailable
from brain.sandbox.base import GUARANTEES
from brain.sandbox.engine import Engine
from brain.sandbox.inside import BOOT, bundle
from brain.sandbox.inside.wire import dumps
from brain.sandbox.launched import Launched, pipe

__all__ = ["LAYERS", "SubprocessSandbox"]

LAYERS = ("namespaces", "own_root", "limits", "user", "landlock", "seccomp")
"""The layers, each of which can be switched off; a guarantee that then no longer holds is not claimed."""


class SubprocessSandbox(Engine):
    """Runs programs in a process that confines itself, proves it, and only then is sent the program.

    Linux: namespaces with a root of their own, Landlock, a system call filter, limits, and for root another
    user; where some are closed, the others still give every guarantee. Elsewhere only what the host's side
    gives by itself holds, and so the default ``require`` refuses.

    Args:
        require: guarantees without which no program is run; all of them by default.
        off: layers to leave out, by name, to see what depends on them.
        user: the user id that programs of a root host run as; a fresh one for each run by default.
        memory: bytes of address space.
        scratch: bytes of /tmp, where there is one.
        output: bytes that are kept of standard output, and of standard error.
        cpu: seconds of processor time; by default the run's time limit and one more.
    """

    def __init__(
        self,
        *,
        require: Collection[str] = tuple(GUARANTEES),
        off: Collection[str] = (),
        user: int | None = None,
        memory: int = 256 << 20,
        scratch: int = 16 << 20,
        output: int = 1 << 18,
        cpu: float | None = None,
    ) -> None:
        super().__init__(require=require, memory=memory, scratch=scratch, output=output, cpu=cpu)
        self.off = frozenset({off} if isinstance(off, str) else off)
        if self.off - set(LAYERS):
            raise ConfigurationError(
                f"no such layer: {', '.join(sorted(self.off - set(LAYERS)))}; there are {', '.join(LAYERS)}"
            )
        if user is not None and (type(user) is not int or not 0 < user < 1 << 31):
            raise ConfigurationError(f"user is a user id other than root's; got {user!r}")
        self.user = user

    def _advice(self) -> str:
        if not sys.platform.startswith("linux"):
            return "On this system only DockerSandbox can confine programs."
        return (
            "What brings it: user namespaces (sysctl user.max_user_namespaces and "
            "kernel.apparmor_restrict_unprivileged_userns), Landlock (Linux 5.13 or later), seccomp; or DockerSandbox."
        )

    @contextmanager
    def _launch(self, config: dict[str, Any]) -> Iterator[Launched]:
        import subprocess

        if os.name != "posix":
            raise SandboxUnavailable(f"programs cannot be run in a process of their own here. {self._advice()}")
        if not sys.executable or not os.path.isfile(sys.executable) or getattr(sys, "frozen", False):
            raise SandboxUnavailable(
                "no other interpreter can be started: sys.executable is not one (an embedded or frozen program?)"
            )
        opened: list[int] = []
        process: subprocess.Popen[bytes] | None = None
        launched: Launched | None = None
        probe = ""
        try:
            probe = _probe()
            control, leash = pipe(opened)
            requests, requests_to = pipe(opened)
            replies_from, replies = pipe(opened)
            out, out_to = pipe(opened)
            err, err_to = pipe(opened)
            process = subprocess.Popen(  # noqa: S603  # this interpreter, with text of this library
                [sys.executable, "-I", "-S", "-B", "-X", "utf8", "-c", BOOT, str(control)],
                stdin=subprocess.DEVNULL, stdout=out_to, stderr=err_to, pass_fds=(control, requests_to, replies_from),
                env=_environment(), cwd="/", start_new_session=True,
            )  # fmt: skip
            for fd in (control, requests_to, replies_from, out_to, err_to):
                opened.remove(fd)
                os.close(fd)
            launched = Launched(process, requests, replies, out, err, leash, lambda: _remove(probe))
            opened.clear()
            config = {
                **config, "off": sorted(self.off), "user": self.user, "contained": False, "probe": probe,
                "host": os.getpid(), "requests": requests_to, "replies": replies_from,
            }  # fmt: skip
            _feed(leash, config)
            yield launched
        finally:
            if launched is not None:
                launched.end()
                launched.close()
            elif process is not None:
                process.kill()
                process.wait()
            for fd in opened:
                os.close(fd)
            if probe:
                _remove(probe)


def _feed(control: int, config: dict[str, Any]) -> None:
    """Send the launcher its own modules and what it is to do."""
    body = dumps(config, 1 << 20).encode()
    data = memoryview(bundle() + len(body).to_bytes(4, "big") + body)
    with suppress(BrokenPipeError):  # it did not start; what it said of that is on its standard error
        while data:
            data = data[os.write(control, data) :]


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}  # or Python may not start
    # MALLOC_ARENA_MAX: each arena of glibc reserves 64 MiB of address space.
    return {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": "/tmp",  # noqa: S108  # the program's own
        "TMPDIR": "/tmp",  # noqa: S108
        "MALLOC_ARENA_MAX": "2",
        **kept,
    }


def _probe() -> str:
    """Make a file of the host's own in a folder of the host's own, for the launcher to be refused."""
    import tempfile

    try:
        folder = tempfile.mkdtemp(prefix="brain-probe-")
    except OSError as error:
        raise SandboxUnavailable(
            f"a file is needed to try whether it can be read, and none can be made: {error}"
        ) from error
    path = os.path.join(folder, "probe")
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    return path


def _remove(probe: str) -> None:
    with suppress(OSError):  # gone already
        os.unlink(probe)
    with suppress(OSError):
        os.rmdir(os.path.dirname(probe))
