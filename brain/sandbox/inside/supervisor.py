"""The launcher: makes the namespaces, starts the process that the program will be, and is its clock and leash.

It is outside the program's namespaces and process group and shares nothing with it. It ends the program at
the deadline, and at once when the host goes away: the host's end of the control pipe closes however it dies.
The program's process dies with the supervisor in turn. How it ended is this process's exit status.
"""

from __future__ import annotations

import os
import sys
import time

from brain.sandbox.inside.confine import confine
from brain.sandbox.inside.endings import CPU_TIME, DEADLINE, LEASH, MOST
from brain.sandbox.inside.evidence import held
from brain.sandbox.inside.kernel import libc, prctl
from brain.sandbox.inside.program import Channel, Printed, run, text_output
from brain.sandbox.inside.wire import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["main"]

SET_CHILD_SUBREAPER = 36
NEWUSER = 0x10000000
_SEPARATE = 0x02000000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000  # cgroup, uts, ipc, pid, net
_SIGKILL = 9
_STACK = 2 << 20  # of a thread: the default of 8 MiB would use the memory limit up at thirty threads


def main(control: int) -> None:
    """Read what the host wants and do it; does not return."""
    config = loads(_take(control, int.from_bytes(_take(control, 4), "big")).decode())
    layers: set[str] = set()
    notes: dict[str, str] = {}
    try:
        prctl(SET_CHILD_SUBREAPER, 1)  # where there is no pid namespace, orphans come back here
    except OSError as error:
        notes["subreaper"] = str(error)
    _separate(config, layers, notes)
    config["supervisor"] = os.getpid()
    go, alive = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.close(alive)
            _become(config, go, layers, notes)
            status = 0
        except BaseException as error:
            if not isinstance(error, OSError) or error.errno != 32:  # not: the host is gone
                os.write(2, f"the launcher failed: {type(error).__name__}: {error}\n".encode()[:2000])
        finally:
            os._exit(status)
    os.close(go)
    for other in {0, 1, 2, config["requests"], config["replies"]} - {control}:
        os.close(other)
    os._exit(_watch(config, control, child))


def _separate(config: dict[str, Any], layers: set[str], notes: dict[str, str]) -> None:
    """Make new namespaces: no network, no process, no System V object or host name is shared with the host.

    All in one call, which is done whole or not at all. Root needs no user namespace, and works where those
    are switched off; anyone else becomes administrator in one, of nothing but it.
    """
    if "namespaces" in config["off"]:
        notes["namespaces"] = "switched off"
        return
    user, group = os.geteuid(), os.getegid()
    unshare = getattr(libc, "unshare", None)
    if unshare is None:
        notes["namespaces"] = "this system has none"
    elif user == 0 and unshare(_SEPARATE) == 0:
        layers.add("namespaces")
    elif unshare(_SEPARATE | NEWUSER) == 0:
        try:
            for name, text in (
                ("setgroups", "deny"),
                ("uid_map", f"{user} {user} 1"),
                ("gid_map", f"{group} {group} 1"),
            ):
                with open(f"/proc/self/{name}", "w") as file:
                    file.write(text)
        except OSError as error:
            notes["user namespace"] = str(error)
        layers.add("namespaces")
    else:
        import ctypes

        notes["namespaces"] = f"unshare: {os.strerror(ctypes.get_errno())}"


def _become(config: dict[str, Any], go: int, layers: set[str], notes: dict[str, str]) -> None:
    """Turn this process into the program's: arrange its five descriptors, confine it, report, run."""
    import fcntl

    null = os.open("/dev/null", os.O_RDWR)
    wanted = [null, 2 if config["contained"] else 1, 2, config["requests"], config["replies"], go]
    moved = [fcntl.fcntl(each, fcntl.F_DUPFD, 10) for each in wanted]  # out of each other's way
    for number, each in enumerate(moved[:5]):
        os.dup2(each, number)
    channel = Channel(config["room"])
    confine(config, moved[5], layers, notes)
    proven = held(config, layers)
    import _thread

    _thread.stack_size(_STACK)
    if config["contained"]:
        import io

        sys.stdout = text_output(io.BufferedWriter(Printed(channel), 8192))
    else:
        sys.stdout = text_output(os.fdopen(1, "wb", closefd=False))
    sys.stderr = text_output(os.fdopen(2, "wb", closefd=False))
    sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr  # type: ignore[misc]
    sys.stdin = open(0, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    channel.send(dumps({"t": "ready", "held": proven, "layers": sorted(layers), "notes": notes}, 1 << 16))
    config.clear()
    run(channel, channel.receive())


def _watch(config: dict[str, Any], leash: int, child: int) -> int:
    """Wait for the program, the deadline, or the host's end, whichever comes first; return the exit status."""
    import select

    deadline = time.monotonic() + config["seconds"]
    poller = select.poll()
    poller.register(leash, 0)  # its closing only: in a container the program reads its replies from it
    ended = _watched(child)
    if ended >= 0:
        poller.register(ended, select.POLLIN)
    why = status = 0
    used = None
    while used is None:
        left = deadline - time.monotonic()
        ready = {number for number, _ in poller.poll(max(min(left, 3600.0 if ended >= 0 else 0.01), 0) * 1000)}
        if left <= 0 or leash in ready:
            why = LEASH if leash in ready else DEADLINE
            os.kill(child, _SIGKILL)
            _, status, used = os.wait4(child, 0)
        elif ended in ready or ended < 0:
            gone, status, usage = os.wait4(child, os.WNOHANG)
            used = usage if gone else None
    _end_orphans()
    _remove(config["probe"])
    if why:
        return why
    if os.WIFSIGNALED(status):
        # The kernel counts what the limit is compared with in ticks, and here more exactly; they differ a little.
        least = max(config["cpu"] - 1.0, config["cpu"] / 2)
        if os.WTERMSIG(status) == _SIGKILL and used.ru_utime + used.ru_stime >= least:
            return CPU_TIME
        return 128 + os.WTERMSIG(status)
    return min(os.WEXITSTATUS(status), MOST)


def _remove(probe: str) -> None:
    """Remove the probe and its folder; the host has done so, unless it died before it could."""
    try:
        os.unlink(probe)
        os.rmdir(os.path.dirname(probe))
    except OSError:
        pass


def _watched(child: int) -> int:
    """Return a descriptor that tells of the child's end; -1 on a system without such."""
    try:
        return os.pidfd_open(child)
    except (OSError, AttributeError):
        return -1


def _end_orphans() -> None:
    """Kill what a program left behind where no namespace has done it; its orphans are children of this process."""
    for _ in range(200 if os.path.isdir("/proc") else 0):
        try:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return
        for name in os.listdir("/proc"):
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
                if parent == os.getpid():
                    os.kill(int(name), _SIGKILL)
            except (OSError, ValueError, IndexError):
                continue
        time.sleep(0.01)


def _take(source: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = os.read(source, size - len(data))
        if not part:
            os._exit(LEASH)
        data += part
    return data
