"""A process that is killed loses nothing: its run is taken up from the file, and no step is made twice unasked."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brain.runtime import read_journal
from brain.types import Observation
from tests.journal_files.appender import STEPS, agent

ROOT = Path(__file__).parents[2]
KILLS = 200 if os.environ.get("BRAIN_THOROUGH") else 20
NUMBERS = [str(number) for number in range(STEPS)]


class Server:
    """Runs that are killed; starting a process for each costs more than the run."""

    def __init__(self) -> None:
        command = [sys.executable, str(ROOT / "tests/journal_files/appender.py")]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def run(self, folder: Path, kind: str, seconds: float) -> tuple[int, float]:
        """Run in a folder and kill the run after some seconds; return its exit code and the seconds it took."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        folder.mkdir()
        self.process.stdin.write(f"{folder / 'run.jsonl'} {folder / 'log'} {kind} {seconds}\n")
        self.process.stdin.flush()
        code, took = self.process.stdout.readline().split()
        return int(code), float(took)


def lines(folder: Path) -> list[str]:
    return (folder / "log").read_text().split() if (folder / "log").exists() else []


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is of POSIX")
def test_a_run_that_is_killed_anywhere_is_finished_by_resume(tmp_path: Path) -> None:
    """Killed 20 times (200 with BRAIN_THOROUGH=1) at random moments of thirty steps, with each kind of tool."""
    seed = int(os.environ.get("BRAIN_SEED", "6"))
    dice = random.Random(seed)
    server = Server()
    with server.process:
        try:
            takes = min(server.run(tmp_path / f"whole-{each}", "once", 60)[1] for each in range(3))
            counts = {"killed": 0, "asked": 0, "repeated": 0, "before the file": 0}
            for number in range(KILLS):
                kind, folder = ("once", "idempotent")[number % 2], tmp_path / str(number)
                code, _ = server.run(folder, kind, dice.random() * takes)
                counts["killed"] += code == -signal.SIGKILL
                finish(folder, kind, counts, f"seed {seed}, kill {number}")
        finally:
            server.process.kill()
    assert counts["killed"] > KILLS / 2, counts
    print(counts)


def finish(folder: Path, kind: str, counts: dict[str, int], where: str) -> None:
    """Take the run up and check that every number is there, once; twice only what may be repeated."""
    path, log = folder / "run.jsonl", folder / "log"
    if not path.exists() or not path.read_bytes().count(b"\n"):  # killed before its header was on the disk
        assert lines(folder) == [], where
        counts["before the file"] += 1
        return
    journal, before = read_journal(path), lines(folder)
    recorded = [str(entry.action.input) for entry in journal if hasattr(entry.action, "tool")]  # type: ignore[union-attr]
    assert before[: len(recorded)] == recorded, where
    assert len(before) - len(recorded) in (0, 1), f"{where}: more was done than the file knows of"
    pattern = agent(str(log), kind)
    result = pattern.resume(path)
    if result.state == "INTERRUPTED":
        counts["asked"] += 1
        assert kind == "once", where
        assert "was begun and its outcome was not recorded" in (result.error or ""), where
        assert lines(folder) == before, f"{where}: called before the question was answered"
        known: Any = Observation(f"appended {before[-1]}") if len(before) > len(recorded) else True
        result = pattern.resume(path, approve=known)
    assert (result.ok, result.answer) == (True, str(STEPS)), f"{where}: {result.error}"
    after = lines(folder)
    if kind == "once":
        assert after == NUMBERS, where
    else:
        twice = [each for each in after if after.count(each) > 1]
        counts["repeated"] += bool(twice)
        assert sorted(set(after), key=int) == NUMBERS, where
        assert set(twice) <= {before[-1]} - set(recorded) if before else not twice, where
    assert pattern.replay(path).answer == str(STEPS), where
