"""What is claimed holds, what does not hold is not claimed, and what is required is there or nothing runs."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from brain.errors import ConfigurationError, SandboxError, SandboxGuaranteeMissing, SandboxUnavailable
from brain.sandbox import BY_CONSTRUCTION, GUARANTEES, LAYERS, DockerSandbox, SubprocessSandbox, sandbox

ROOT = Path(__file__).resolve().parents[2]
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="confinement of a process is built for Linux")


@linux
def test_a_missing_guarantee_refuses_before_the_program_runs():
    """With the layers that close the network off, ``no_network`` is missing: nothing runs, no tool is called."""
    called = []
    executor = SubprocessSandbox(require={"no_network"}, off=("namespaces", "landlock", "seccomp"))
    with pytest.raises(SandboxGuaranteeMissing) as caught:
        executor.run("t(1)", {"t": called.append})
    assert called == []
    assert caught.value.missing == ("no_network",)
    assert caught.value.notes["seccomp"] == "switched off"
    assert isinstance(caught.value, SandboxUnavailable)
    assert isinstance(caught.value, SandboxError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.missing, again.notes) == (str(caught.value), caught.value.missing, caught.value.notes)
    assert executor.run("t(1)", {"t": called.append}, require=()).ok
    assert called == [1]


@linux
def test_by_default_everything_is_required():
    """Less has to be asked for by name."""
    assert SubprocessSandbox().require == set(GUARANTEES)
    with pytest.raises(SandboxGuaranteeMissing, match="memory_limit"):
        SubprocessSandbox(off=["limits"]).run("1")


@linux
def test_what_the_hosts_side_gives_holds_without_any_layer():
    """With every layer off only the four guarantees of the host's side are claimed, and they are true."""
    executor = SubprocessSandbox(off=LAYERS, require=())
    given = executor.guarantees()
    assert {name for name in GUARANTEES if given[name]} == BY_CONSTRUCTION
    os.environ["BRAIN_TEST_SECRET"] = "s3cret"
    try:
        report = executor.run("import os\nprint(sorted(os.environ), os.getcwd(), os.listdir('/proc/self/fd'))")
    finally:
        del os.environ["BRAIN_TEST_SECRET"]
    assert "SECRET" not in report.stdout
    assert report.ok


SURVIVOR = """
import os, time
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(write, str(os.getpid()).encode())
        time.sleep(60)
    os._exit(0)
os.wait()
print(os.read(read, 20).decode())
"""


@linux
def test_what_a_program_left_behind_is_ended_even_without_any_layer():
    """A daemon comes back to the supervisor as an orphan, which ends it; it is not claimed, since it may fail."""
    report = SubprocessSandbox(off=LAYERS, require=()).run(SURVIVOR)
    assert report.ok, report.error
    assert not report.guarantees["no_survivors"]
    assert not Path(f"/proc/{int(report.stdout)}").exists()


@linux
@pytest.mark.parametrize("layer", LAYERS)
def test_one_layer_less_still_runs_and_says_so(layer):
    """Each layer is optional; the note says which is missing, and most guarantees are held by another."""
    report = SubprocessSandbox(off=[layer], require=()).run("import json, random\nprint(json.dumps([1]))")
    assert (report.ok, report.stdout) == (True, "[1]\n"), report.error
    assert report.notes[layer] == "switched off"
    assert all(report.guarantees[name] for name in BY_CONSTRUCTION)
    if layer in ("namespaces", "own_root", "landlock"):
        assert all(report.guarantees.values()), report.guarantees
    if layer == "seccomp":
        assert not report.guarantees["kernel_surface"]
    if layer == "limits":
        assert not report.guarantees["memory_limit"]
        assert not report.guarantees["cpu_limit"]


@linux
def test_the_filter_alone_gives_everything():
    """Without namespaces and Landlock, as in an old kernel's container, imports are loaded beforehand."""
    report = SubprocessSandbox(off=("namespaces", "landlock")).run(
        "import asyncio, csv, dataclasses, decimal, statistics, xml.etree.ElementTree\n"
        "print(statistics.mean([1, 2, 3]))\n"
        "try:\n    open('/etc/passwd')\nexcept PermissionError:\n    print('refused')"
    )
    assert (report.ok, report.stdout) == (True, "2\nrefused\n"), report.error
    assert all(report.guarantees.values())


ATTACKS = {
    "no_network": "import socket\nsocket.create_connection(('127.0.0.1', 9), 1)",
    "no_filesystem_read": "open('/etc/hosts').read()",
    "no_filesystem_write": "open('/var/tmp/brain-test-touch', 'w')",
    "no_subprocess": "import subprocess\nsubprocess.run(['/bin/true'], check=True)",
    "host_process_protection": "import os\nos.kill(HOST, 0)\nopen(f'/proc/{HOST}/environ')",
    "memory_limit": "x = b'x' * (1 << 30)",
    "disk_limit": "f = open('/tmp/x', 'wb')\nfor i in range(64):\n    f.write(b'x' * (1 << 20))\nf.flush()",
    "kernel_surface": (
        "import ctypes\nif ctypes.CDLL(None, use_errno=True).unshare(0x10000000):\n"
        "    raise OSError(ctypes.get_errno(), 'refused')"
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_what_is_claimed_is_refused(executor, name):
    """The program meets an error, in Python's own words, where it reaches for what it must not have."""
    report = executor.run(f"HOST = {os.getpid()}\n{ATTACKS[name]}\nprint('done')", timeout=20)
    assert report.guarantees[name]
    assert not report.ok
    assert "done" not in report.stdout
    assert report.error_type in ("PermissionError", "OSError", "FileNotFoundError", "MemoryError", "ProcessLookupError")


def test_processor_time_is_bounded(make_executor):
    """Apart from the clock on the wall, there is one on the processor."""
    report = make_executor("subprocess", cpu=1).run("while True: pass", timeout=30)
    assert (report.ok, report.killed_by) == (False, "cpu")
    assert report.seconds < 10


def test_wrong_settings_raise_at_once():
    """Configuration is checked when it is given."""
    for make in (
        lambda: SubprocessSandbox(off=["nothing"]),
        lambda: SubprocessSandbox(require=["nothing"]),
        lambda: SubprocessSandbox(user=0),
        lambda: SubprocessSandbox(memory=1),
        lambda: SubprocessSandbox(memory="256m"),
        lambda: SubprocessSandbox(cpu=0),
        lambda: DockerSandbox(""),
        lambda: DockerSandbox("--privileged"),
        lambda: DockerSandbox("image", processes=1),
        lambda: sandbox("firejail"),
    ):
        with pytest.raises(ConfigurationError):
            make()


def test_auto_takes_the_first_that_gives_what_is_required():
    """The subprocess where it will do; where neither will, the reasons of both."""
    assert isinstance(sandbox(require=()), SubprocessSandbox)
    assert isinstance(sandbox("docker", image="x"), DockerSandbox)
    with pytest.raises(SandboxUnavailable, match=r"SubprocessSandbox: .*DockerSandbox: .*no-such-command"):
        sandbox(off=["limits"], docker="no-such-command")


def test_importing_is_light_and_works_anywhere():
    """No process, engine or ctypes is touched by the import, nor by making an executor."""
    program = (
        "import sys\nimport brain.sandbox as s\nbefore = set(sys.modules)\n"
        "s.SubprocessSandbox(), s.DockerSandbox('x'), s.GUARANTEES\n"
        "heavy = {'subprocess', 'ctypes', 'select', 'socket', 'tempfile', 'inspect'}\n"
        "print(sorted(heavy & (set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "[]\n"


CASES = ROOT.parent / "shared" / "sandbox_cases"
SOME = "058,107,907"
TIERS = ["", "namespaces", "namespaces,landlock", "seccomp"] if os.environ.get("BRAIN_THOROUGH") else [""]


@linux
@pytest.mark.parametrize("off", TIERS)
def test_the_corpus_finds_no_lie(off):
    """Programs that attack, seen from outside: all held with a filter, and without one no claim is refuted."""
    if not CASES.is_dir():
        pytest.skip("the corpus of sandbox cases is not here")
    only = [] if os.environ.get("BRAIN_THOROUGH") else ["--only", SOME]
    command = [sys.executable, str(CASES / "checker.py"), "--cases", str(CASES / "cases"), *only]
    adapter = ROOT / "tests" / "sandbox_cases" / "adapter_subprocess.py"
    environment = {**os.environ, "BRAIN_SANDBOX_OFF": off}
    done = subprocess.run([*command, "--adapter", str(adapter)], capture_output=True, text=True, env=environment)
    verdicts = [line.split()[0] for line in done.stdout.splitlines()[:-1]]
    assert "held" in verdicts, done.stdout + done.stderr
    assert "LIED" not in verdicts, done.stdout
    if off != "seccomp":
        assert set(verdicts) == {"held"}, done.stdout
