"""The order in which a process gives everything up; most steps forbid what an earlier one needed.

1. a session of its own      without it, kill(0) reaches the supervisor even from another pid namespace
2. dies with its supervisor  PR_SET_PDEATHSIG; again after the user changes, which clears it
3. first to go               oom_score_adj, while the old /proc is there
4. its own root              needs the administrator's capability; Landlock would forbid the mounts
5. its own host name         likewise
6. limits                    soft = hard: pid 1 ignores SIGXCPU, only the hard limit's SIGKILL ends it
7. imports                   only where no library will be readable afterwards
8. capabilities, user        a fresh uid per run shares no process, file or count with anybody
9. Landlock                  before the filter, which refuses its calls
10. descriptors              all but the five that a program has
11. the filter               last, for it forbids all of the above
"""

from __future__ import annotations

import ctypes
import os

from brain.sandbox.inside.kernel import libc, prctl, syscall
from brain.sandbox.inside.landlock import restrict_files
from brain.sandbox.inside.mounts import given_root, library, own_root
from brain.sandbox.inside.seccomp import filter_calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["confine"]

SET_PDEATHSIG, SET_SECUREBITS, CAPBSET_DROP = 1, 28, 24
_SIGKILL = 9
_THREADS = 64

# For a program that will be able to read no library: what models' programs import, and what those import late.
_WANTED = """
abc argparse array ast asyncio base64 binascii bisect bz2 calendar cmath codecs collections.abc colorsys
concurrent.futures.thread configparser contextlib contextvars copy csv ctypes dataclasses datetime decimal difflib
email.utils encodings.cp1252 encodings.idna encodings.latin_1 encodings.utf_16 enum fcntl fnmatch fractions
functools getpass glob graphlib gzip hashlib heapq hmac html.parser inspect io ipaddress itertools json keyword
linecache locale logging lzma math mimetypes mmap numbers operator os pathlib pickle platform pprint queue random re
reprlib resource secrets select selectors shlex shutil signal socket statistics string struct subprocess tempfile
textwrap threading time timeit token tokenize traceback types typing unicodedata urllib.parse urllib.request uuid
warnings weakref xml.etree.ElementTree zipfile zlib zoneinfo
"""


def confine(config: dict[str, Any], go: int, layers: set[str], notes: dict[str, str]) -> None:
    """Give up everything that a program must not have; what could not be given up is in ``notes``.

    Args:
        config: what the host wants; see the supervisor.
        go: a pipe that the supervisor holds for as long as it lives.
        layers: the layers in force so far; those that come into force here are added.
        notes: for each layer that did not, the kernel's own words.
    """

    def layer(name: str, build: Callable[[], Any]) -> None:
        if name in config["off"]:
            notes[name] = "switched off"
            return
        try:
            build()
        except (OSError, AttributeError, ImportError, ValueError) as error:  # AttributeError: no such call here
            notes[name] = str(error)
        else:
            layers.add(name)

    os.setsid()
    _die_with(go, notes)
    _write("/proc/self/oom_score_adj", "1000")
    if config["contained"]:
        layer("own_root", given_root)
    elif "namespaces" in layers:
        layer("own_root", lambda: own_root(config["scratch"]))
        libc.sethostname(b"sandbox", 7)
    else:
        notes.setdefault("own_root", "needs the namespaces")
    layer("limits", lambda: _limits(config, layers))
    if "own_root" not in layers and not _readable_later(config):
        _import_all()
    layer("user", lambda: _drop(config["user"]))
    if not _capabilities():
        layers.add("powerless")
    _die_with(go, notes)
    root = "hosts" if "own_root" not in layers else "given" if config["contained"] else "own"
    layer("landlock", lambda: restrict_files(root=root))
    opens = "all" if "own_root" in layers else "reading" if "landlock" in layers else "none"
    if opens == "none" and "seccomp" not in config["off"]:
        _import_all()
    _close_from(5)
    layer("seccomp", lambda: filter_calls(opens=opens))


def _die_with(go: int, notes: dict[str, str]) -> None:
    """Have the kernel kill this process when its supervisor ends; make sure that it has not ended already."""
    try:
        prctl(SET_PDEATHSIG, _SIGKILL)
    except OSError as error:
        notes["death signal"] = str(error)
    import select

    gone = select.poll()
    gone.register(go, 0)  # only whether the other end was closed
    if gone.poll(0):
        os._exit(1)


def _limits(config: dict[str, Any], layers: set[str]) -> None:
    """Bound memory, processor time, files, descriptors, threads. Stops bombs of each; source: setrlimit(2)."""
    import resource

    wanted = {
        "AS": config["memory"], "CPU": config["cpu"], "FSIZE": config["scratch"], "NOFILE": 64, "CORE": 0,
        "MEMLOCK": 0, "MSGQUEUE": 0, "SIGPENDING": 64, "RTPRIO": 0,
    }  # fmt: skip
    if not config["contained"]:  # a container's engine counts them (and its user is that of other containers)
        alone = os.geteuid() == 0 or "namespaces" in layers  # a user, or a count of one's own
        wanted["NPROC"] = _THREADS + (0 if alone else _tasks_of(os.getuid()))
    for name, value in wanted.items():
        number = getattr(resource, "RLIMIT_" + name, None)
        if number is not None:
            resource.setrlimit(number, (value, value))


def _tasks_of(user: int) -> int:
    """Count the threads that a user has now; the limit on them counts all of the user's, anywhere."""
    count = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.stat(f"/proc/{name}").st_uid == user:
                    count += os.stat(f"/proc/{name}/task").st_nlink - 2
            except OSError:  # it has ended since
                continue
    return count


def _drop(user: int | None) -> None:
    """Give up every capability, and root's user id. Stops what root may do to processes and files not its own."""
    problem: OSError | None = None
    for capability in range(64):
        try:
            prctl(CAPBSET_DROP, capability)
        except OSError:  # past the last one, or not allowed: then capset below is what counts
            break
    if os.geteuid() == 0:
        new = user if user is not None else 61184 + int.from_bytes(os.urandom(2), "big") % 4352  # to 65535: nobody's
        try:
            prctl(SET_SECUREBITS, 0x2F)  # no capabilities for uid 0, ever again
        except OSError:
            pass  # the bounding set above and no_new_privs say the same
        try:
            os.setgroups([])
            os.setresgid(new, new, new)
            os.setresuid(new, new, new)
        except OSError as error:
            problem = OSError(error.errno, f"the user id could not be changed: {error.strerror}")
    header, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    syscall("capset", header, none)
    if problem is not None:
        raise problem


def _capabilities() -> bool:
    """Whether any capability is left."""
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    try:
        syscall("capget", header, data)
    except OSError:
        return os.geteuid() == 0  # a system without them: root is what has the power
    return any(data)


def _readable_later(config: dict[str, Any]) -> bool:
    """Whether another user than root can read the library (it may lie below a private home)."""
    if os.geteuid() != 0 or "user" in config["off"]:
        return True
    for path in library():
        path = os.path.realpath(path)
        if not os.stat(path).st_mode & 0o4:
            return False
        while path != "/":
            if not os.stat(path).st_mode & 0o1:
                return False
            path = os.path.dirname(path)
    return True


def _import_all() -> None:
    """Import what programs import, while it can still be read."""
    for name in _WANTED.split():
        try:
            __import__(name)
        except ImportError:  # a small build without it
            continue


def _close_from(first: int) -> None:
    try:
        syscall("close_range", first, 0xFFFFFFFF, 0)
    except OSError:
        os.closerange(first, 1 << 16)


def _write(path: str, text: str) -> None:
    try:
        file = os.open(path, os.O_WRONLY)
    except OSError:
        return  # not every system has it, and nothing depends on it
    try:
        os.write(file, text.encode())
    except OSError:
        pass
    finally:
        os.close(file)
