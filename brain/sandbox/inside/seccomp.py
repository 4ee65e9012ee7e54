"""The system call filter: what is not on the list is refused, with EPERM, so that Python sees a PermissionError.

Stops: processes (fork, exec), sockets, signals and limits for others, memory that no limit counts, metadata
of files, and the calls that kernel escapes start from (namespaces, keyrings, bpf, io_uring, ...). Needs no
privilege but ``no_new_privs``. Killing instead of refusing would turn a missed harmless call into a crash at
random (dify issue 38105). Source: seccomp(2), Documentation/userspace-api/seccomp_filter.rst.
"""

from __future__ import annotations

import ctypes
import os
import sys

from brain.sandbox.inside.kernel import GENERIC, X86_64, machine, prctl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["filter_calls", "program"]

_AUDIT_ARCH = {X86_64: 0xC000003E, "aarch64": 0xC00000B7, "riscv64": 0xC00000F3}
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000  # SECCOMP_RET_*; _REFUSE + errno
EPERM, ENOSYS, ENOTSUP = 1, 38, 95

# Plain calls, x86_64 then generic; a name that one of them lacks has None there.
_PLAIN = """
read 0 63|write 1 64|readv 19 65|writev 20 66|pread64 17 67|pwrite64 18 68|preadv 295 69|pwritev 296 70
preadv2 327 286|pwritev2 328 287|lseek 8 62|close 3 57|close_range 436 436|fstat 5 80|newfstatat 262 79
stat 4 -|lstat 6 -|statx 332 291|access 21 -|faccessat 269 48|faccessat2 439 439|statfs 137 43|fstatfs 138 44
getcwd 79 17|chdir 80 49|fchdir 81 50|getdents 78 -|getdents64 217 61|umask 95 166|fadvise64 221 223
poll 7 -|ppoll 271 73|select 23 -|pselect6 270 72|epoll_create 213 -|epoll_create1 291 20|epoll_ctl 233 21
epoll_wait 232 -|epoll_pwait 281 22|epoll_pwait2 441 441|eventfd 284 -|eventfd2 290 19|pipe 22 -|pipe2 293 59
dup 32 23|dup2 33 -|dup3 292 24|mmap 9 222|munmap 11 215|mprotect 10 226|mremap 25 216|madvise 28 233|brk 12 214
futex 202 98|set_robust_list 273 99|get_robust_list 274 100|rseq 334 293|set_tid_address 218 96|membarrier 324 283
exit 60 93|exit_group 231 94|wait4 61 260|waitid 247 95|gettid 186 178|getpid 39 172|getppid 110 173
getuid 102 174|geteuid 107 175|getgid 104 176|getegid 108 177|getresuid 118 148|getresgid 120 150
getgroups 115 158|getpgrp 111 -|getrusage 98 165|times 100 153|sysinfo 99 179|uname 63 160|getcpu 309 168
clock_gettime 228 113|clock_getres 229 114|clock_nanosleep 230 115|nanosleep 35 101|gettimeofday 96 169|time 201 -
getrandom 318 278|sched_yield 24 124|sched_get_priority_max 146 125|sched_get_priority_min 147 126
rt_sigaction 13 134|rt_sigprocmask 14 135|rt_sigreturn 15 139|sigaltstack 131 132|rt_sigpending 127 136
rt_sigtimedwait 128 137|rt_sigsuspend 130 133|pause 34 -|alarm 37 -|setitimer 38 103|getitimer 36 102
restart_syscall 219 128|shutdown 48 210|getsockopt 55 209|getsockname 51 204|getpeername 52 205|getrlimit 97 163
"""
# With a root of one's own all that these reach is the scratch folder; elsewhere they would change host files.
_PATHS = """
open 2 -|openat 257 56|creat 85 -|readlink 89 -|readlinkat 267 78|mkdir 83 -|mkdirat 258 34|rmdir 84 -|unlink 87 -
unlinkat 263 35|rename 82 -|renameat 264 38|renameat2 316 276|link 86 -|linkat 265 37|symlink 88 -|symlinkat 266 36
truncate 76 45|ftruncate 77 46|fallocate 285 47|chmod 90 -|fchmod 91 52|fchmodat 268 53|fchmodat2 452 452
utime 132 -|utimes 235 -|futimesat 261 -|utimensat 280 88|fsync 74 82|fdatasync 75 83
"""
_MISSING = "clone3 435 435|openat2 437 437"  # glibc then takes the older call, whose flags a filter can read
_UNSUPPORTED = """
setxattr 188 5|lsetxattr 189 6|fsetxattr 190 7|getxattr 191 8|lgetxattr 192 9|fgetxattr 193 10|listxattr 194 11
llistxattr 195 12|flistxattr 196 13|removexattr 197 14|lremovexattr 198 15|fremovexattr 199 16
"""  # shutil copes with "not supported", not with "not permitted"

_NAMESPACES = 0x7E020000 | 0x80  # CLONE_NEW*
_THREAD = 0x10000
# Writing, creating, O_PATH (which Landlock does not look at), and the bit of O_TMPFILE that is its own:
# the whole of it contains O_DIRECTORY, which every import uses.
_NOT_READING = 0x3 | 0x40 | 0x200 | 0x200000 | 0x400000
# Duplicate, flags, locks, pipe size (read). Not F_SETOWN and F_SETSIG: the kernel would then send SIGKILL to any
# process of the same user without a kill(); not F_SETPIPE_SZ: memory that no limit counts; no leases.
_FCNTL = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)
_IOCTL = (0x5401, 0x541B, 0x5421, 0x5450, 0x5451)  # is it a terminal, bytes waiting, non-blocking, close-on-exec
_PRCTL = (15, 16)  # a thread's name
_MSG_OOB = 1  # CVE-2025-38236

_Code = list[tuple[int, int, int, int]]


def filter_calls(*, opens: str) -> None:
    """Put the filter in force for this process, for good.

    Args:
        opens: ``all`` (with a root of one's own), ``reading`` (Landlock says which), or ``none``.
    """
    code = program(opens=opens, pid=os.getpid())
    raw = b"".join(op.to_bytes(2, "little") + bytes((yes, no)) + k.to_bytes(4, "little") for op, yes, no, k in code)
    buffer = ctypes.create_string_buffer(raw, len(raw))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))

    prctl(38, 1)  # PR_SET_NO_NEW_PRIVS
    prctl(22, 2, ctypes.byref(Program(len(code), ctypes.addressof(buffer))))  # PR_SET_SECCOMP, filter


def program(*, opens: str, pid: int) -> _Code:
    """Return the filter as classic BPF instructions: code, jump if true, jump if false, constant."""
    if machine not in _AUDIT_ARCH or sys.byteorder != "little":
        raise OSError(ENOSYS, f"no table of system calls for {machine}")
    code: _Code = [_load(4), (0x15, 1, 0, _AUDIT_ARCH[machine]), _give(_KILL), _load(0)]
    if machine == X86_64:
        code += [(0x35, 0, 1, 0x40000000), _give(_KILL)]  # x32: the same calls under other numbers
    for number in _numbers(_PLAIN + (_PATHS if opens == "all" else "")):
        code += [(0x15, 0, 1, number), _give(_ALLOW)]
    rules: list[tuple[str, _Code]] = [
        ("fcntl 72 25", _one_of(1, _FCNTL)),
        ("ioctl 16 29", _one_of(1, _IOCTL)),
        ("prctl 157 167", _one_of(0, _PRCTL)),
        ("clone 56 220", [*_without(0, _NAMESPACES), *_having(0, _THREAD, _THREAD)]),  # threads, no processes
        ("kill 62 129|tgkill 234 131|rt_sigqueueinfo 129 138|rt_tgsigqueueinfo 297 240", _one_of(0, (pid,))),
        ("prlimit64 302 261|sched_getaffinity 204 123|getpgid 121 155|getsid 124 156", _one_of(0, (0, pid))),
        ("sched_getscheduler 145 120|sched_getparam 143 121", _one_of(0, (0, pid))),
        # Stream pairs only (asyncio wants one): a datagram pair can send to any address (Ladybird PR 12146).
        ("socketpair 53 199", [*_having(0, 0xFFFFFFFF, 1), *_having(1, 0xF, 1)]),
        ("sendto 44 206|recvfrom 45 207", _without(3, _MSG_OOB)),
        ("sendmsg 46 211|recvmsg 47 212", _without(2, _MSG_OOB)),
    ]
    if opens == "reading":
        rules += [("openat 257 56", _without(2, _NOT_READING)), ("open 2 -", _without(1, _NOT_READING))]
    for names, checks in rules:
        for number in _numbers(names):
            body = [*checks, _give(_ALLOW)]
            code += [(0x15, 0, len(body), number), *body]
    for names, error in ((_MISSING, ENOSYS), (_UNSUPPORTED, ENOTSUP)):
        for number in _numbers(names):
            code += [(0x15, 0, 1, number), _give(_REFUSE + error)]
    code.append(_give(_REFUSE + EPERM))
    return code


def _numbers(table: str) -> Iterable[int]:
    """Read the numbers of this machine off a table of ``name x86_64 generic``."""
    column = 1 + (machine in GENERIC)
    for entry in table.replace("\n", "|").split("|"):
        words = entry.split()
        if words and words[column] != "-":
            yield int(words[column])


def _load(offset: int) -> tuple[int, int, int, int]:
    return (0x20, 0, 0, offset)  # BPF_LD | BPF_W | BPF_ABS; the number is at 0, the architecture at 4


def _argument(index: int) -> tuple[int, int, int, int]:
    return _load(16 + 8 * index)  # its low half: the arguments looked at here are all ints to the kernel


def _give(value: int) -> tuple[int, int, int, int]:
    return (0x06, 0, 0, value)


_NO = _give(_REFUSE + EPERM)


def _one_of(index: int, values: tuple[int, ...]) -> _Code:
    """Refuse unless the argument is one of the values."""
    left = len(values)
    return [_argument(index), *((0x15, left - at, 0, value) for at, value in enumerate(values)), _NO]


def _without(index: int, bits: int) -> _Code:
    """Refuse where the argument has one of the bits."""
    return [_argument(index), (0x45, 0, 1, bits), _NO]


def _having(index: int, mask: int, value: int) -> _Code:
    """Refuse unless the masked argument has the value."""
    return [_argument(index), (0x54, 0, 0, mask), (0x15, 1, 0, value), _NO]
