"""Nothing of a run outlives it, however it ends: no process, container, mount, folder or descriptor."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from brain.errors import SandboxUnavailable
from brain.sandbox import SubprocessSandbox

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")

HOST = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent in the background may have it ignored
from brain.sandbox import DockerSandbox, SubprocessSandbox
executor = SubprocessSandbox() if sys.argv[1] == "subprocess" else DockerSandbox(sys.argv[2], host=sys.argv[3] or None)
def begun():
    print("begun", flush=True)
executor.run("begun()\\nwhile True: pass", {"begun": begun}, timeout=60)
"""


def below(root: int) -> set[int]:
    """Processes below one, by parent, but those that have ended."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                words = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if words[0] != "Z":
                parents[int(name)] = int(words[1])
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {root}


def alive(pids: set[int]) -> set[int]:
    """Those that are still running."""
    found = set()
    for pid in pids:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                found.add(pid)
        except OSError:
            continue
    return found


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A folder for temporary files that nobody else uses."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def containers(host: str) -> list[str]:
    engine = ["docker", *(["--host", host] if host else [])]
    command = [*engine, "ps", "-aq", "--filter", "label=brain.sandbox"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def mounts() -> set[str]:
    """What is mounted, but for what container engines on this machine mount and unmount at any time."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return {line for line in lines if not any(word in line for word in (" overlay ", " nsfs ", "docker", "containerd"))}


def within(seconds: float, condition) -> bool:
    """Whether something becomes true in time; looked at until it is."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
    return condition()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["SIGKILL", "SIGINT"])
@pytest.mark.parametrize("kind", ["subprocess", "docker"])
def test_42_a_host_that_ends_in_the_middle_leaves_nothing(make_executor, temporary, kind, number):
    """Killed without a word, or interrupted from the keyboard: two seconds later nothing is left."""
    make_executor(kind)
    image, host = os.environ.get("BRAIN_DOCKER_IMAGE", "brain-python"), os.environ.get("BRAIN_DOCKER_HOST", "")
    before = mounts()
    command = [sys.executable, "-c", HOST, kind, image, host]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        running = below(process.pid)
        assert running
        process.send_signal(number)
        assert process.wait(5) != 0
        assert within(2, lambda: not alive(running)), alive(running)
    assert os.listdir(temporary) == []
    if kind == "docker":
        assert within(2, lambda: not containers(host))
    else:
        assert mounts() <= before


def test_a_host_that_is_stopped_does_not_stop_the_clock():
    """The supervisor keeps the time: a host that sleeps in a tool finds the program gone."""
    states = []

    def slow():
        children = below(os.getpid())
        within(5, lambda: not alive(children))
        states.append(len(alive(children)))

    report = SubprocessSandbox(require=()).run("slow()\nwhile True: pass", {"slow": slow}, timeout=0.5)
    assert states == [0]
    assert (report.ok, report.killed_by) == (False, "timeout")


def test_runs_leave_no_descriptor_folder_or_process(temporary):
    """After good runs, bad runs and refusals, all is as before."""
    executor = SubprocessSandbox(require=())
    executor.run("1")
    descriptors, children = os.listdir("/proc/self/fd"), below(os.getpid())
    for program in ("1", "1/0", "import os; os._exit(3)", "import os; os.closerange(0, 99)\nwhile 1: pass"):
        executor.run(program)
    executor.run("while True: pass", timeout=0.2)
    executor.guarantees()
    with pytest.raises(SandboxUnavailable):
        SubprocessSandbox(off=["limits"]).run("1")
    assert os.listdir("/proc/self/fd") == descriptors
    assert below(os.getpid()) == children
    assert os.listdir(temporary) == []


def test_a_launcher_that_cannot_start_says_why(monkeypatch, temporary):
    """An interpreter that is none, or one that fails, is a clear error and leaves nothing."""
    descriptors = os.listdir("/proc/self/fd")
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(SandboxUnavailable, match=r"sys\.executable"):
        SubprocessSandbox().run("1")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(SandboxUnavailable, match="did not start: exit status 1"):
        SubprocessSandbox().run("1")
    assert os.listdir("/proc/self/fd") == descriptors
    assert os.listdir(temporary) == []


def test_a_daemon_without_standard_streams_can_run_programs():
    """Pipes that would get the numbers 0 to 2 are moved out of the way."""
    program = (
        "import os\nfrom brain.sandbox import SubprocessSandbox\nkept = os.dup(1)\nos.closerange(0, 3)\n"
        "report = SubprocessSandbox(require=()).run('print(t(1))', {'t': lambda x: x})\n"
        "os.write(kept, report.output.encode() or repr(report).encode())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, cwd=ROOT, check=True)
    assert done.stdout == b"1\n"
