"""The self-test: try the forbidden things in the confined process, before it is given a program.

A guarantee holds when every door to it was tried and found shut, not because a layer was switched on. Each
attempt is harmless where it succeeds: nothing is killed, changed for good, or left behind.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import resource
import sys

from brain.sandbox.inside.kernel import libc, refused, syscall
from brain.sandbox.inside.mounts import SCRATCH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

__all__ = ["held"]

_SHUT = (1, 13, 38)  # EPERM, EACCES, ENOSYS: refused as such, not for its arguments
_STANDARD = ("/etc/passwd", "/etc/hosts", "/etc/hostname")
_SHARED = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108  # tried, not used


def held(config: dict[str, Any], layers: Iterable[str]) -> dict[str, bool]:
    """Return, for each guarantee that depends on this process, whether it was found to hold."""
    on = frozenset(layers)
    inside = "own_root" in on
    powerless = "powerless" in on  # with a capability, files open by their handle and limits go up again
    tests = {
        "no_network": lambda: _no_sockets() or ("namespaces" in on and inside and _no_hypervisor()),
        "no_filesystem_read": lambda: (
            _no_reading(config["probe"], () if config["contained"] else _STANDARD) and powerless
        ),
        "no_filesystem_write": lambda: _no_writing(config["probe"], inside) and powerless,
        "no_subprocess": lambda: _no_fork() and _no_exec(),
        "host_process_protection": lambda: (
            powerless and _no_reach([config["host"], config["supervisor"]], "namespaces" in on)
        ),
        "memory_limit": lambda: powerless and _memory_bounded(config["memory"]) and _no_fork(),
        "cpu_limit": lambda: powerless and _limit("RLIMIT_CPU") == config["cpu"] and _no_fork(),
        # Without both of these a new user namespace could mount a folder without limit.
        "disk_limit": lambda: (
            not on.isdisjoint({"landlock", "seccomp"})
            and _no_writing(config["probe"], inside)
            and _scratch_bounded(config["scratch"], inside)
        ),
        "kernel_surface": lambda: "seccomp" in on and _doors_shut(),
        "no_survivors": lambda: "namespaces" in on or (_no_fork() and _no_exec()),
    }
    return {name: _sure(test) for name, test in tests.items()}


def _bound(call: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    """Return a call without arguments; functools would load a third of the library for it."""
    return lambda: call(*arguments)


def _sure(test: Any) -> bool:
    try:
        return bool(test())
    except Exception:  # what could not be tried is not known to hold
        return False


def _no_sockets() -> bool:
    """AF_UNIX, AF_INET, AF_INET6: no socket of these, so no traffic; a pair of datagram sockets could send too."""
    pair = (ctypes.c_int * 2)()
    made = [libc.socket(family, kind, 0) for family in (1, 2, 10) for kind in (1, 2)]
    made.append(libc.socketpair(1, 2, 0, pair))
    for each in made[:-1]:
        if each >= 0:
            os.close(each)
    if made[-1] == 0:
        os.close(pair[0])
        os.close(pair[1])
    return all(each < 0 for each in made)


def _no_hypervisor() -> bool:
    """AF_VSOCK reaches the machine that this one runs on, from any network namespace."""
    made = libc.socket(40, 1, 0)
    if made >= 0:
        os.close(made)
    return bool(made < 0)


def _no_reading(probe: str, standard: tuple[str, ...]) -> bool:
    def read(path: str) -> None:
        os.close(os.open(path, os.O_RDONLY))

    files = all(refused(_bound(read, path)) for path in (probe, *standard))
    return files and refused(_bound(os.listdir, os.path.dirname(probe)))


def _no_writing(probe: str, inside: bool) -> bool:
    folder = os.path.dirname(probe)
    shared = [] if inside else [each for each in _SHARED if not _same(each, folder)]
    attempts = [
        lambda: os.close(os.open(probe, os.O_WRONLY)),
        lambda: os.chmod(probe, 0o600),
        lambda: os.utime(probe),
        lambda: _library_metadata(),
    ]
    return all(map(refused, attempts)) and all(
        _no_folder(each) for each in (folder, os.path.dirname(os.__file__), *shared)
    )


def _no_folder(parent: str) -> bool:
    """Whether no folder can be made there."""
    path = f"{parent}/.brain-{os.getpid()}-{os.urandom(4).hex()}"
    if refused(lambda: os.mkdir(path)):
        return True
    os.rmdir(path)
    return False


def _library_metadata() -> None:
    """Change a library file's mode, to what it is, through a descriptor that was opened to read it."""
    for path in (os.__file__, sys.executable):
        try:
            file = os.open(path, os.O_RDONLY)
        except OSError:
            continue
        try:
            os.fchmod(file, os.fstat(file).st_mode & 0o7777)
        finally:
            os.close(file)
        return
    raise OSError(13, "no library file can be opened")


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _no_fork() -> bool:
    def fork() -> None:
        child = os.fork()
        if not child:
            os._exit(0)
        os.waitpid(child, 0)

    def clone() -> None:
        child = syscall("clone", 17, 0, 0, 0, 0)  # SIGCHLD: what fork is made of, without the library around it
        if not child:
            os._exit(0)
        os.waitpid(child, 0)

    return refused(fork) and refused(clone)


def _no_exec() -> bool:
    """A program that does not exist: refused before it is looked for."""
    try:
        os.execve("/nonexistent", ["nonexistent"], {})  # noqa: S606  # must fail
    except OSError as error:
        return error.errno in _SHUT


def _no_reach(pids: list[int], own_namespace: bool) -> bool:
    """No signal, limit, priority, core or memory of an outside process; no session key, no System V memory."""
    for pid in pids:
        if pid <= 0 or (pid == os.getpid() and own_namespace):
            continue  # not known, or the same number here means this process
        if not all(refused(_bound(attempt, pid)) for attempt in _REACHES):
            return False
    keys = refused(lambda: syscall("keyctl", 0, -3, 0, 0, 0))  # KEYCTL_GET_KEYRING_ID of the session
    return keys and (own_namespace or refused(_system_v))


def _read_limit(pid: int) -> None:
    if libc.prlimit(pid, 7, None, (ctypes.c_uint64 * 2)()) < 0:  # RLIMIT_NOFILE
        raise OSError(ctypes.get_errno(), "refused")


def _set_priority(pid: int) -> None:
    os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid))  # to what it is


def _open_memory(pid: int) -> None:
    os.close(os.open(f"/proc/{pid}/mem", os.O_RDONLY))


def _open_environment(pid: int) -> None:
    os.close(os.open(f"/proc/{pid}/environ", os.O_RDONLY))


def _send_by_owner(pid: int) -> None:
    """Make a process the owner of a pipe's notifications: the kernel would send the signals (fcntl F_SETOWN)."""
    read, write = os.pipe()
    try:
        fcntl.fcntl(read, 8, pid)
    finally:
        os.close(read)
        os.close(write)


_REACHES = (
    lambda pid: os.kill(pid, 0),
    _read_limit,
    _set_priority,
    lambda pid: os.sched_getaffinity(pid),
    _open_memory,
    _open_environment,
    _send_by_owner,
)


def _system_v() -> None:
    segment = syscall("shmget", 0, 4096, 0o600)
    libc.shmctl(segment, 0, None)


def _memory_bounded(limit: int) -> bool:
    """No mapping past the limit, and none of the kinds of memory that no limit counts."""

    def mapping() -> None:
        mmap.mmap(-1, limit + 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()

    def pipe() -> None:
        read, write = os.pipe()
        try:
            fcntl.fcntl(write, 1031, 1 << 20)  # F_SETPIPE_SZ
        finally:
            os.close(read)
            os.close(write)

    return (
        limit == _limit("RLIMIT_AS")
        and refused(mapping)
        and refused(pipe)
        and refused(lambda: os.close(syscall("memfd_create", b"x", 0)))
        and refused(_system_v)
        and _limit("RLIMIT_NOFILE") <= 1024
    )


def _limit(name: str) -> int:
    """Return a hard limit."""
    return resource.getrlimit(getattr(resource, name))[1]


def _scratch_bounded(scratch: int, inside: bool) -> bool:
    if not inside:
        return True  # there is none
    size = os.statvfs(SCRATCH)
    return size.f_blocks * size.f_frsize <= scratch + 4096 and size.f_files <= 4096


def _doors_shut() -> bool:
    """The system calls and socket families with a long record of kernel bugs (docker's seccomp notes)."""
    buffer = ctypes.create_string_buffer(128)
    calls: list[tuple[Any, ...]] = [
        ("keyctl", 0, -3, 0, 0, 0), ("add_key", b"user", b"x", b"x", 1, -2), ("bpf", 0, buffer, 0),
        ("perf_event_open", buffer, 0, -1, -1, 0), ("userfaultfd", 0), ("io_uring_setup", 0, buffer),
        ("memfd_secret", 0), ("fsopen", b"tmpfs", 0), ("ptrace", 16, 0, 0, 0),
        ("process_vm_readv", os.getpid(), buffer, 0, buffer, 0, 0),
    ]  # fmt: skip
    for name, *arguments in calls:
        try:
            syscall(name, *arguments)
        except OSError as error:
            if error.errno in _SHUT:
                continue
        return False
    if libc.unshare(0x10000000) == 0:  # CLONE_NEWUSER
        return False
    return all(libc.socket(family, 3, 0) < 0 and ctypes.get_errno() in _SHUT for family in (15, 16, 17, 38, 40))
