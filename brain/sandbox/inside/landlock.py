"""Landlock: access to files by path is denied but for the few trees named here; no privilege is needed.

Stops: opening, listing, making, moving or removing host files, whoever the process runs as; binding and
connecting TCP (ABI 4, Linux 6.7); abstract Unix sockets and signals to outside processes (ABI 6, Linux 6.12).
Does not stop metadata (chmod, utime, stat), UDP, limits, priorities: the system call filter does.
Source: the kernel's Documentation/userspace-api/landlock.rst.
"""

from __future__ import annotations

import ctypes
import os

from brain.sandbox.inside.kernel import prctl, syscall
from brain.sandbox.inside.mounts import SCRATCH, library, packages

__all__ = ["restrict_files"]

WRITE_FILE, READ_FILE, READ_DIR, REFER, TRUNCATE, IOCTL_DEV = 1 << 1, 1 << 2, 1 << 3, 1 << 13, 1 << 14, 1 << 15
_ALL = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}  # later ABIs: with IOCTL_DEV
_SCRATCH = (1 << 15) - 1 & ~(1 | 1 << 6 | 1 << 9 | 1 << 11)  # no execution, no devices, no sockets
_TCP = 0b11  # bind, connect
_SCOPES = 0b11  # abstract Unix sockets, signals
SET_NO_NEW_PRIVS = 38


class _PathBeneath(ctypes.Structure):
    _layout_ = "ms"  # packed, as the kernel's header says; newer ctypes want the layout named
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def restrict_files(*, root: str) -> int:
    """Deny all files but the libraries; return the ABI.

    Args:
        root: ``own`` (all of it may be read), ``given`` (a container's, with files of its engine in it) or
            ``hosts``; with the first two /tmp may be written to.
    """
    abi = syscall("landlock_create_ruleset", None, 0, 1)  # LANDLOCK_CREATE_RULESET_VERSION
    handled = _ALL.get(abi, (1 << 16) - 1)
    words = (ctypes.c_uint64 * 3)(handled, _TCP if abi >= 4 else 0, _SCOPES if abi >= 6 else 0)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    ruleset = syscall("landlock_create_ruleset", words, size, 0)
    try:
        if root == "own":
            _allow(ruleset, "/", READ_FILE | READ_DIR)
        else:
            for path in library():
                _allow_library(ruleset, path)
        if root != "hosts":
            _allow(ruleset, SCRATCH, _SCRATCH & handled)
        _allow(ruleset, "/dev/null", READ_FILE if root == "hosts" else (READ_FILE | WRITE_FILE | TRUNCATE) & handled)
        prctl(SET_NO_NEW_PRIVS, 1)  # without it the next call is root's alone
        syscall("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)
    return abi


def _allow_library(ruleset: int, folder: str) -> None:
    """Allow a library folder, without the packages that are installed in it: those are the host's, not Python's."""
    hidden = packages(folder)
    if not hidden:
        _allow(ruleset, folder, READ_FILE | READ_DIR)
        return
    _allow(ruleset, folder, READ_DIR)  # imports list it
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if path in hidden or os.path.islink(path):
            continue
        if os.path.isdir(path) and any(each.startswith(path + "/") for each in hidden):
            _allow_library(ruleset, path)
        else:
            _allow(ruleset, path, READ_FILE | READ_DIR)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # not there, so nothing to allow
    try:
        if not os.path.isdir(path):
            rights &= WRITE_FILE | READ_FILE | TRUNCATE | 1  # a file takes no rights of folders
        syscall("landlock_add_rule", ruleset, 1, ctypes.byref(_PathBeneath(rights, parent)), 0)
    finally:
        os.close(parent)
