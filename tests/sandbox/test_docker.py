"""The executor in a container: what it says where there is none, and what it leaves when its command dies."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from brain.errors import SandboxUnavailable
from brain.sandbox import DockerSandbox


def test_without_the_command_it_says_what_is_needed():
    """A machine without Docker gets a sentence, not a traceback of ``subprocess``."""
    executor = DockerSandbox("image", docker="no-such-command")
    with pytest.raises(SandboxUnavailable, match=r"no-such-command: No such file.*running engine.*'image'"):
        executor.run("1")


def test_without_an_engine_or_an_image_it_says_so(make_executor):
    """The engine's own words, and that nothing is pulled."""
    there = make_executor("docker")
    absent = DockerSandbox("image", host="unix:///nonexistent/docker.sock")
    with pytest.raises(SandboxUnavailable, match=r"(?i)cannot connect|failed to connect"):
        absent.run("1")
    with pytest.raises(SandboxUnavailable, match=r"(?s)no-such-image.*none is pulled here"):
        DockerSandbox("no-such-image", host=there.host).run("1")
    with pytest.raises(SandboxUnavailable, match="no-such-python"):
        DockerSandbox(there.image, host=there.host, python="no-such-python").run("1")


def test_a_container_is_gone_when_its_command_was_killed(make_executor):
    """Killing ``docker run`` kills no container; the executor removes it."""
    executor = make_executor("docker")

    def kill():
        for each in Path("/proc").iterdir():
            if each.name.isdigit():
                try:
                    parent = (each / "stat").read_text().rpartition(")")[2].split()[1]
                    words = (each / "cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue
                if parent == str(os.getpid()) and b"--rm" in words:
                    os.kill(int(each.name), signal.SIGKILL)

    started = time.monotonic()
    report = executor.run("kill()\nwhile True: pass", {"kill": kill}, timeout=30)
    assert not report.ok
    assert time.monotonic() - started < 15
    command = ["docker", *(["--host", executor.host] if executor.host else [])]
    left = subprocess.run([*command, "ps", "-aq", "--filter", "label=brain.sandbox"], capture_output=True, check=True)
    assert left.stdout == b""


def test_the_container_is_nobodys(make_executor, monkeypatch):
    """Another user, another name, a root that cannot be written to, and a small folder that can."""
    monkeypatch.setenv("BRAIN_TEST_SECRET", "s3cret")
    report = make_executor("docker").run(
        "import os, socket\nprint(os.getuid(), os.uname().nodename, os.environ['HOME'], sorted(os.environ))\n"
        "open('/tmp/x', 'w').close()\nfor path in ('/x', '/etc/x', '/usr/lib/x'):\n"
        "    try:\n        open(path, 'w')\n    except OSError as e:\n        print(type(e).__name__)"
    )
    first, *rest = report.stdout.splitlines()
    assert first.startswith("65534 sandbox /tmp ['HOME', ")
    assert "BRAIN_TEST_SECRET" not in first
    assert len(rest) == 3
