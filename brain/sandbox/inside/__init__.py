"""What runs in the program's own process: it confines itself, proves that it is confined, and runs the program.

Nothing here imports anything of the library outside this folder, and nothing heavy at all: the modules are
sent to a fresh interpreter (``bundle``), which may have no library to read by the time they need one.
"""

from __future__ import annotations

__all__ = ["BOOT", "MODULES", "bundle"]

MODULES = ("wire", "endings", "kernel", "mounts", "landlock", "seccomp", "evidence", "confine", "program", "supervisor")
"""In the order in which they can be loaded: each imports only those before it."""

BOOT = """\
import os, sys, marshal
def take(fd, n):
    data = b""
    while len(data) < n:
        part = os.read(fd, n - len(data))
        if not part:
            sys.exit("the host went away before it had sent the launcher")
        data += part
    return data
def load(fd):
    for name, code in marshal.loads(take(fd, int.from_bytes(take(fd, 4), "big"))):
        module = sys.modules[name] = type(sys)(name)
        exec(code, vars(module))
    module.main(fd)
load(int(sys.argv[1]))
"""
"""The first words of a launcher (``python -c BOOT FD``): read the modules from a descriptor and start the last."""

_bundles: dict[bool, bytes] = {}


def bundle(*, source: bool = False) -> bytes:
    """Return the modules of this folder, length first, in the form that ``BOOT`` reads.

    Args:
        source: send text, for an interpreter of another version; otherwise this interpreter's code objects,
            which spares the launcher compiling them and needs no folder it could read (a zip will do).
    """
    if source not in _bundles:
        import importlib.machinery
        import importlib.util
        import marshal

        found: list[tuple[str, object]] = []
        for name in MODULES:
            spec = importlib.util.find_spec(f"{__name__}.{name}")
            assert spec is not None
            loader = spec.loader
            assert loader is not None
            if not hasattr(loader, "get_code"):  # an import hook that only executes, such as pytest's
                loader = importlib.machinery.SourceFileLoader(spec.name, str(spec.origin))
            get = loader.get_source if source else loader.get_code  # type: ignore[attr-defined]
            what = get(spec.name)
            found.append((spec.name, what if source else _anonymous(what)))
        data = marshal.dumps(found, 2 if source else marshal.version)
        _bundles[source] = len(data).to_bytes(4, "big") + data
    return _bundles[source]


def _anonymous(code: object) -> object:
    """Take the host's path out of a code object: tracebacks are shown to programs and models."""
    from types import CodeType

    if not isinstance(code, CodeType):
        return code
    return code.replace(co_filename="<sandbox>", co_consts=tuple(map(_anonymous, code.co_consts)))
