"""Which executor to take where the caller does not say."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from brain.errors import ConfigurationError, SandboxUnavailable
from brain.sandbox.base import GUARANTEES
from brain.sandbox.docker import DockerSandbox
from brain.sandbox.engine import Engine
from brain.sandbox.local import SubprocessSandbox

__all__ = ["sandbox"]


def sandbox(kind: str = "auto", *, require: Collection[str] = tuple(GUARANTEES), **options: Any) -> Engine:
    """Return an executor: ``subprocess``, ``docker``, or ``auto``, the first that gives all that is required.

    Args:
        kind: which one.
        require: guarantees without which no program is run.
        options: what else ``SubprocessSandbox`` or ``DockerSandbox`` takes; with ``auto``, ``image``, ``host``,
            ``docker``, ``python`` and ``processes`` go to Docker, ``off`` and ``user`` to the subprocess, the
            rest to both.

    Raises:
        SandboxUnavailable: with ``auto``, neither gives what is required; says why for each.
    """
    if kind == "subprocess":
        return SubprocessSandbox(require=require, **options)
    if kind == "docker":
        return DockerSandbox(require=require, **options)
    if kind != "auto":
        raise ConfigurationError(f"no such sandbox: {kind!r}; there are auto, subprocess, docker")
    only_docker, only_local = {"image", "host", "docker", "python", "processes"}, {"off", "user"}
    candidates: tuple[Engine, ...] = (
        SubprocessSandbox(require=require, **{key: each for key, each in options.items() if key not in only_docker}),
        DockerSandbox(require=require, **{key: each for key, each in options.items() if key not in only_local}),
    )
    reasons = []
    for each in candidates:
        try:
            each.check()
        except SandboxUnavailable as error:
            reasons.append(f"{type(each).__name__}: {error}")
        else:
            return each
    raise SandboxUnavailable("no sandbox gives what is required here. " + " ".join(reasons))
