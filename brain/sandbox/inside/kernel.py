"""The kernel's door: the calls that Python has no name for, by ctypes, raising ``OSError`` like all others."""

from __future__ import annotations

import ctypes
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["GENERIC", "X86_64", "libc", "machine", "numbers", "prctl", "refused", "syscall"]

libc = ctypes.CDLL(None, use_errno=True)
machine = os.uname().machine if sys.maxsize > 2**32 else "32 bit"  # a 32-bit process has other numbers

X86_64 = "x86_64"
GENERIC = ("aarch64", "riscv64")  # both number their calls by asm-generic/unistd.h

# name: (x86_64, generic), from the kernel's unistd_64.h and asm-generic/unistd.h
_NUMBERS = {
    "add_key": (248, 217), "bpf": (321, 280), "capset": (126, 91), "capget": (125, 90), "clone": (56, 220),
    "close_range": (436, 436), "fsopen": (430, 430), "io_uring_setup": (425, 425), "keyctl": (250, 219),
    "landlock_add_rule": (445, 445),
    "landlock_create_ruleset": (444, 444), "landlock_restrict_self": (446, 446), "memfd_create": (319, 279),
    "memfd_secret": (447, 447), "mount_setattr": (442, 442), "perf_event_open": (298, 241), "pivot_root": (155, 41),
    "process_vm_readv": (310, 270), "ptrace": (101, 117), "shmget": (29, 194), "userfaultfd": (323, 282),
}  # fmt: skip


def numbers(*names: str) -> list[int]:
    """Return the numbers of system calls on this machine; raise ``OSError`` where its table is not known."""
    if machine != X86_64 and machine not in GENERIC:
        raise OSError(38, f"the numbers of the system calls of {machine} are not known here")
    return [_NUMBERS[name][machine in GENERIC] for name in names]


def syscall(name: str, *arguments: Any) -> int:
    """Make a system call by name; integers go as 64 bits."""
    if not sys.platform.startswith("linux"):
        raise OSError(38, f"{name} is a call of Linux")
    wide = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return _checked(name, libc.syscall(ctypes.c_long(*numbers(name)), *wide))


def prctl(option: int, value: int = 0, more: Any = 0, third: int = 0) -> int:
    """Change how the kernel treats this process (``prctl(2)``)."""
    call = getattr(libc, "prctl", None)
    if call is None:
        raise OSError(38, "prctl is a call of Linux")
    third_word = more if not isinstance(more, int) else ctypes.c_ulong(more)
    return _checked("prctl", call(option, ctypes.c_ulong(value), third_word, ctypes.c_ulong(third), ctypes.c_ulong(0)))


def _checked(name: str, result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def refused(call: Callable[[], Any]) -> bool:
    """Try what is forbidden; true where it was refused."""
    try:
        call()
    except (OSError, AttributeError):  # AttributeError: this system has no such call at all
        return True
    return False
