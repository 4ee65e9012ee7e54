"""Programs in a container: for systems whose own kernel cannot confine a process, at a quarter of a second.

The flags alone leave doors open (other programs run, io_uring and memfd_secret answer, thousands of
descriptors can be held), so the same launcher runs inside and confines itself there too.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from brain.errors import ConfigurationError, SandboxUnavailable
from brain.sandbox.base import GUARANTEES
from brain.sandbox.engine import Engine
from brain.sandbox.inside import BOOT, bundle
from brain.sandbox.inside.wire import dumps
from brain.sandbox.launched import Launched, pipe

__all__ = ["DockerSandbox"]

_USER = 65534  # nobody's
_REMOVE = 10.0  # seconds for the engine to remove a container


class DockerSandbox(Engine):
    """Runs programs in a container without network, privileges or writable files, made for each run.

    Args:
        image: an image that is there already (none is ever pulled), with a Python 3.11 or newer that has ctypes.
        host: the engine's address, such as ``unix:///run/docker.sock``; the ``docker`` command's own by default.
        docker: the command.
        python: the interpreter in the image.
        require: guarantees without which no program is run; all of them by default.
        memory: bytes that the container may use, and of address space.
        scratch: bytes of /tmp.
        output: bytes that are kept of standard output, and of standard error.
        cpu: seconds of processor time; by default the run's time limit and one more.
        processes: tasks in the container at most; a program's threads and two more.
    """

    def __init__(
        self,
        image: str = "python:3.11-slim",
        *,
        host: str | None = None,
        docker: str = "docker",
        python: str = "python3",
        require: Collection[str] = tuple(GUARANTEES),
        memory: int = 256 << 20,
        scratch: int = 16 << 20,
        output: int = 1 << 18,
        cpu: float | None = None,
        processes: int = 66,
    ) -> None:
        super().__init__(require=require, memory=memory, scratch=scratch, output=output, cpu=cpu)
        for name, value in (("image", image), ("docker", docker), ("python", python)):
            if not value or value.startswith("-"):
                raise ConfigurationError(f"{name} is a name; got {value!r}")
        if type(processes) is not int or processes < 3:
            raise ConfigurationError(f"processes is a whole number from 3 up; got {processes!r}")
        self.image, self.host, self.docker, self.python, self.processes = image, host, docker, python, processes

    def _advice(self) -> str:
        return (
            f"DockerSandbox needs a running engine and the image {self.image!r} on it (docker pull or docker import; "
            "none is pulled here), with a Python 3.11 or newer that has ctypes and _json."
        )

    def _command(self, *words: str) -> list[str]:
        return [self.docker, *(["--host", self.host] if self.host else []), *words]

    def _run(self, name: str) -> list[str]:
        size = str(self.memory)
        return self._command(
            "run", "--rm", "--interactive", "--pull", "never", "--name", name, "--label", "brain.sandbox",
            "--network", "none", "--dns", "192.0.2.1", "--dns-search", ".", "--hostname", "sandbox",  # not the host's
            "--read-only", "--tmpfs", f"/tmp:rw,noexec,nosuid,nodev,size={self.scratch},nr_inodes=1k,mode=1777",  # noqa: S108
            "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", str(_USER), "--ipc", "none",
            "--memory", size, "--memory-swap", size, "--pids-limit", str(self.processes),
            "--ulimit", "nofile=64:64", "--ulimit", "core=0:0",
            "--log-driver", "none",  # the default one writes all output to the host's disk
            "--workdir", "/tmp", "--env", "HOME=/tmp", "--env", "TMPDIR=/tmp", "--env", "LANG=C.UTF-8",  # noqa: S108
            "--env", "MALLOC_ARENA_MAX=2", "--entrypoint", self.python,
            self.image, "-I", "-S", "-B", "-X", "utf8", "-c", BOOT, "0",
        )  # fmt: skip

    @contextmanager
    def _launch(self, config: dict[str, Any]) -> Iterator[Launched]:
        import subprocess

        if os.name != "posix":
            raise SandboxUnavailable("DockerSandbox talks to its containers through pipes as POSIX systems have them")
        name = f"brain-{os.urandom(8).hex()}"
        opened: list[int] = []
        process: subprocess.Popen[bytes] | None = None
        launched: Launched | None = None
        try:
            replies_from, replies = pipe(opened)
            requests, requests_to = pipe(opened)
            err, err_to = pipe(opened)
            try:
                process = subprocess.Popen(  # noqa: S603  # a command of the caller's choice
                    self._run(name), stdin=replies_from, stdout=requests_to, stderr=err_to,
                    env=_environment(), cwd="/", start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                raise SandboxUnavailable(f"{self.docker}: {error.strerror}. {self._advice()}") from error
            for fd in (replies_from, requests_to, err_to):
                opened.remove(fd)
                os.close(fd)
            body = dumps(
                {**config, "off": [], "user": None, "contained": True, "probe": "/brain-probe/probe", "host": 0,
                 "requests": 1, "replies": 0}, 1 << 20,
            ).encode()  # fmt: skip
            first = bundle(source=True) + len(body).to_bytes(4, "big") + body
            launched = Launched(process, requests, replies, -1, err, replies, lambda: None, first, patience=1.5)
            opened.clear()
            try:
                yield launched
            except BaseException:
                launched.failed = True
                raise
        finally:
            if launched is not None:
                launched.end()
                launched.close()
            elif process is not None:
                process.kill()
                process.wait()
            for fd in opened:
                os.close(fd)
            if process is not None and (process.returncode < 0 or launched is None or launched.failed):
                self._remove(name)  # the end of the command is not always that of the container

    def _remove(self, name: str) -> None:
        """Remove a container, whatever it does."""
        import subprocess

        with suppress(subprocess.TimeoutExpired):  # an engine that hangs; the launcher inside has the deadline too
            subprocess.run(  # noqa: S603
                self._command("rm", "--force", name), env=_environment(), timeout=_REMOVE, check=False,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip


def _environment() -> dict[str, str]:
    """Return what the command needs of the host's environment; nothing of it enters the container."""
    wanted = ("PATH", "HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME")
    return {name: value for name, value in os.environ.items() if name in wanted or name.startswith("DOCKER_")}
