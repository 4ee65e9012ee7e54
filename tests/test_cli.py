"""The command line: data on stdout, progress on stderr, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from brain.cli import main
from brain.cli.tools import calculator, clock, days_between

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _no_model_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BRAIN_BASE_URL", "BRAIN_MODEL", "BRAIN_API_KEY", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


def brain(*arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "brain", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
        timeout=60,
        check=False,
    )


def test_the_demo_shows_a_whole_trace_and_a_correct_answer() -> None:
    """Two real tool calls at least, nothing on stderr, no colour without a terminal."""
    done = brain("demo", "react")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("Action:") >= 2
    assert "Observation: 4284\n" in done.stdout
    assert "Observation: 612\n" in done.stdout
    assert "exactly 612 weeks" in done.stdout
    assert "\x1b[" not in done.stdout


def test_the_demo_prints_json() -> None:
    """One object whose steps are there."""
    said = json.loads(brain("demo", "react", "--json").stdout)
    assert (said["ok"], said["iterations"], len(said["steps"])) == (True, 3, 3)
    assert said["steps"][1]["action"] == "calculator"


def test_offline_the_echo_answers_and_stderr_says_so() -> None:
    """The answer alone is on stdout."""
    done = brain("run", "react", "hello", "--tool", "calculator", "--tool", "clock")
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert done.stderr.splitlines()[0].startswith("brain: no model is named")
    assert done.stderr.splitlines()[1:] == ["[0] hello"]


def test_quiet_says_no_progress() -> None:
    """The line about being offline is no progress, and stays."""
    assert len(brain("run", "react", "hello", "-q").stderr.splitlines()) == 1


def test_the_task_may_come_from_stdin() -> None:
    """A dash stands for it."""
    assert brain("run", "react", "-", "-q", stdin="from a pipe\n").stdout == "from a pipe\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "react", "t", "--tool", "rm"], "no tool is called 'rm'; there are calculator, clock, days_between"),
        (["run", "react", "t", "--max-steps", "0"], "max_steps must be at least 1"),
        (["run", "react", "  "], "the task is empty"),
        (["run", "react", "t", "--base-url", "http://127.0.0.1:1/v1"], "--base-url needs a --model"),
        (["run", "nothing", "t"], "invalid choice"),
        (["run", "react"], "required"),
        ([], "required"),
    ],
)
def test_a_wrong_command_exits_with_2(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """And says what was wrong, on stderr."""
    try:
        code: Any = main(arguments)
    except SystemExit as stop:  # argparse's own
        code = stop.code
    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert told in said.err


class _Model(BaseHTTPRequestHandler):
    """A model that answers each request with the next of its replies."""

    replies: list[str] = []
    seen: list[Any] = []

    def do_POST(self) -> None:
        self.seen.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        choice = {"message": {"role": "assistant", "content": self.replies.pop(0)}, "finish_reason": "stop"}
        body = json.dumps({"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Stay quiet."""


@pytest.fixture
def server() -> Iterator[str]:
    """Serve ``_Model`` on loopback and give its base URL."""
    with HTTPServer(("127.0.0.1", 0), _Model) as httpd:
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}/v1"
        httpd.shutdown()
        thread.join()


def test_a_server_named_by_options_or_environment_is_asked(server: str) -> None:
    """Over HTTP, with a real tool in between; progress is one line a step."""
    for options, environment in (
        (["--base-url", server, "--model", "m"], {}),
        ([], {"BRAIN_BASE_URL": server, "BRAIN_MODEL": "m"}),
    ):
        _Model.replies = ["Thought: sum\nAction: calculator\nAction Input: 17 * 23", "Final Answer: 391"]
        _Model.seen = []
        done = brain("run", "react", "17 * 23?", "--tool", "calculator", *options, **environment)
        assert (done.returncode, done.stdout) == (0, "391\n")
        assert done.stderr.splitlines() == ["[0] calculator(17 * 23) -> 391", "[1] Final Answer: 391"]
        assert _Model.seen[1]["messages"][-1] == {"role": "user", "content": "Observation: 391"}


def test_a_run_that_fails_exits_with_1(server: str) -> None:
    """The error is on stderr, and in the JSON."""
    done = brain("run", "react", "t", "--base-url", "http://127.0.0.1:9/v1", "--model", "m", "-q")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("brain: the run failed: ReActAgent, model call 1: ")
    _Model.replies = ["  "]
    done = brain("run", "react", "t", "--base-url", server, "--model", "m", "--json")
    said = json.loads(done.stdout)
    assert (done.returncode, said["ok"]) == (1, False)
    assert "empty" in said["error"]


def test_ctrl_c_exits_with_130_and_shows_what_was_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The partial result is printed."""
    from brain.cli import tools

    def stop(_: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setitem(tools.DEMO_TOOLS, "clock", stop)
    monkeypatch.setattr("brain.patterns.base.BasePattern._get_provider", lambda _: _Stops())
    assert main(["run", "react", "t", "--tool", "clock", "--json", "-q"]) == 130
    said = capsys.readouterr()
    assert json.loads(said.out)["state"] == "INTERRUPTED"
    assert said.err.endswith("brain: stopped\n")


class _Stops:
    def generate(self, messages: Any, tools: Any = (), tool_choice: Any = "none") -> Any:
        return "Action: clock\nAction Input: now"


def test_a_program_runs_by_hand(tmp_path: Path) -> None:
    """Its output is on stdout, its answer on stderr; the exit code says whether it ran to its end."""
    file = tmp_path / "program.py"
    file.write_text("print(6 * 7)\nfinal_answer({'a': 2})", encoding="utf-8")
    done = brain("sandbox", str(file), "--require", "")
    assert (done.returncode, done.stdout, done.stderr) == (0, "42\n", "answer: {'a': 2}\n")
    done = brain("sandbox", "-", "--require", "", stdin="1/0")
    assert (done.returncode, done.stdout) == (1, "")
    assert "ZeroDivisionError" in done.stderr
    assert brain("sandbox", str(tmp_path / "nothing.py")).returncode == 2
    done = brain("sandbox", "-", "--require", "magic", stdin="1")
    assert (done.returncode, "no such guarantee: magic" in done.stderr) == (2, True)


def test_the_doctor_says_what_each_executor_guarantees() -> None:
    """Or why it is not here."""
    said = brain("doctor").stdout
    assert "subprocess sandbox:" in said
    assert "docker sandbox:" in said
    assert "no_network" in said


def test_every_pattern_is_listed_drawn_and_shown() -> None:
    """Underscores may stand for dashes."""
    names = [line.split()[0] for line in brain("patterns").stdout.splitlines()]
    assert {"react", "debate", "code-action"} <= set(names)
    assert brain("graph", "code_action").stdout.startswith("graph LR")
    assert "max" not in brain("graph", "peoatr", "--describe").stderr


def test_colours_are_for_terminals_and_those_who_force_them() -> None:
    """NO_COLOR wins."""
    assert "\x1b[" in brain("demo", "react", FORCE_COLOR="1").stdout
    assert "\x1b[" not in brain("demo", "react", FORCE_COLOR="1", NO_COLOR="1").stdout


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("17 * 23", "391"),
        ("4284 / 7", "612"),
        ("-(2 + 3) ** 2", "-25"),
        ("7 // 2 + 7 % 2", "4"),
        ("1/8", "0.125"),
        ("2^10", "1024"),
    ],
)
def test_the_calculator_works_out_arithmetic(expression: str, value: str) -> None:
    """Whole results have no decimal point."""
    assert calculator(expression) == value


@pytest.mark.parametrize(
    "expression", ["__import__('os')", "1+", "x", "9**9**9", "'a'*9", "1" * 300, "2**5000", "f(1)", "True"]
)
def test_the_calculator_does_nothing_else(expression: str) -> None:
    """What is no arithmetic, or too large, is an error."""
    with pytest.raises(ValueError, match=r"understood|expression|digits|exponent"):
        calculator(expression)


def test_the_other_demo_tools_are_real() -> None:
    """A clock with time zones, and days between dates."""
    assert clock().endswith("UTC")
    with pytest.raises(ValueError, match="no time zone"):
        clock("Nowhere/Land")
    assert days_between("1969-07-20, 1981-04-12") == "4284"
