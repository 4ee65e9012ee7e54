"""A root of the program's own: an empty folder tree, the libraries read-only, a small scratch folder, no more.

Stops: seeing, reading or writing any file of the host, its sockets by path, /proc and /sys. The old root is
not hidden but gone (``pivot_root(2)``); a chroot could be left again. Needs a mount namespace and its
administrator's capability, so it comes before both are given up.
"""

from __future__ import annotations

import ctypes
import os
import sys

from brain.sandbox.inside.kernel import libc, syscall

__all__ = ["SCRATCH", "given_root", "library", "own_root", "packages"]

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
MNT_DETACH = 2
_VIRTUAL = {"tmpfs", "proc", "sysfs", "cgroup", "cgroup2", "mqueue", "devpts", "devtmpfs"}
_ENGINE = {"/etc/hosts", "/etc/hostname", "/etc/resolv.conf"}
CLONE_NEWNS = 0x20000
SCRATCH = "/tmp"  # noqa: S108  # in a root that is the program's own
BASE = "/proc"  # where the new root is put together: it is always there, and no library is below it
_SYSTEM = ("/usr/lib", "/usr/lib32", "/usr/lib64", "/lib", "/lib32", "/lib64", "/usr/share/zoneinfo")
_KEPT = {2: MS_NOSUID, 4: MS_NODEV, 8: MS_NOEXEC, 1024: 1024, 2048: 2048, 4096: 1 << 21}  # ST_* flag: MS_* flag


def library() -> list[str]:
    """Return the folders that an interpreter imports from and loads shared objects from."""
    found = [each for each in sys.path if os.path.isdir(each)]
    found.append(os.path.join(sys.base_prefix, "lib"))
    found += _SYSTEM
    real = {os.path.abspath(each) for each in found if os.path.isdir(each)} - {"/"}
    return sorted(real, key=len)  # a folder before what lies in it


def packages(folder: str) -> list[str]:
    """Return the folders of installed packages at and directly below a library folder."""
    found = []
    for below in [
        folder,
        *(os.path.join(folder, name) for name in _listed(folder) if name.startswith(("python", "pypy"))),
    ]:
        for name in ("site-packages", "dist-packages"):
            path = os.path.join(below, name)
            if os.path.isdir(path) and not os.path.islink(path):
                found.append(path)
    return found


def own_root(scratch: int) -> None:
    """Leave the host's file systems for a root that holds the libraries and /tmp.

    Args:
        scratch: bytes of /tmp.
    """
    if libc.unshare(CLONE_NEWNS):
        _fail("unshare of the mount namespace")
    _mount(None, "/", None, MS_REC | MS_PRIVATE)  # nothing done here shows outside
    _mount("none", BASE, "tmpfs", MS_NOSUID | MS_NODEV, "size=256k,nr_inodes=1k,mode=755")
    # The scratch folder comes before the libraries, which may lie below /tmp themselves.
    os.mkdir(BASE + SCRATCH)
    _mount("none", BASE + SCRATCH, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, f"size={scratch},nr_inodes=1k,mode=1777")
    bound: list[str] = []
    for path in library():
        real = os.path.realpath(path)
        if not any(real == each or real.startswith(each + "/") for each in bound):
            os.makedirs(BASE + real, exist_ok=True)
            _mount(real, BASE + real, None, MS_BIND | MS_REC)
            bound.append(real)
        if real != path and not os.path.lexists(BASE + path):
            os.makedirs(os.path.dirname(BASE + path), exist_ok=True)
            os.symlink(real, BASE + path)
    for folder in bound:
        for hidden in packages(folder):
            _mount(
                "none",
                BASE + hidden,
                "tmpfs",
                MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
                "size=4k,nr_inodes=2,mode=755",
            )
    for folder in bound:
        _read_only(BASE + folder)
    os.makedirs(BASE + "/dev", exist_ok=True)
    os.close(os.open(BASE + "/dev/null", os.O_CREAT | os.O_WRONLY, 0o644))
    _mount("/dev/null", BASE + "/dev/null", None, MS_BIND)
    os.chdir(BASE)
    syscall("pivot_root", b".", b".")  # the old root now lies on top of the new one; take it off
    if libc.umount2(b".", MNT_DETACH):
        _fail("umount of the old root")
    os.chdir("/")
    _mount(None, "/", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)
    os.chdir(SCRATCH)


def given_root() -> None:
    """Check that a container's root will do for one's own: read-only, and no file system of the host's in it.

    An image can ask for volumes, which lie on the host's disk; the engine's three files in /etc are its own.
    """
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
        for line in mounts:
            before, _, after = line.partition(" - ")
            path, options = before.split()[4:6]
            kind = after.split()[0]
            if path == "/":
                if "ro" not in options.split(","):
                    raise OSError(30, "the container's root can be written to")
            elif kind not in _VIRTUAL and path not in _ENGINE:
                raise OSError(1, f"the container has {path} of the host's file systems in it")


def _read_only(path: str) -> None:
    """Make a bound tree read-only, with whatever is mounted below it where the kernel can (5.12)."""
    attributes = (ctypes.c_uint64 * 4)(MS_RDONLY | MS_NOSUID | MS_NODEV, 0, 0, 0)  # MOUNT_ATTR_* have these values
    try:
        syscall("mount_setattr", -100, path.encode(), 0x8000, attributes, ctypes.sizeof(attributes))  # AT_RECURSIVE
    except OSError:
        flags = os.statvfs(path).f_flag  # a user namespace may not drop flags that the outside has set
        kept = sum(flag for bit, flag in _KEPT.items() if flags & bit)
        _mount(None, path, None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | kept)


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    words = [None if each is None else os.fsencode(each) for each in (source, target, kind, data)]
    if libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]):
        _fail(f"mount of {kind or source or 'flags'} at {target}")


def _fail(what: str) -> None:
    number = ctypes.get_errno()
    raise OSError(number, f"{what}: {os.strerror(number)}")


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
