"""``brain run --journal``, ``brain show`` and ``brain resume``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from brain.cli import main
from brain.patterns import ReActAgent
from brain.runtime import ApprovalGate
from brain.testing import ScriptedProvider


def calculator(expression: str) -> str:
    """Stand for the demo tool."""
    raise KeyboardInterrupt


def test_a_run_is_recorded_shown_and_resumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The echo answers; replaying its journal gives the answer again."""
    file = str(tmp_path / "run.jsonl")
    assert main(["run", "react", "hello", "--journal", file, "-q"]) == 0
    answer = capsys.readouterr().out
    assert main(["show", file]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("ReActAgent (brain ")
    assert "   0  ask with 2 messages, the last 'hello'\n      -> '" in shown
    assert "1 model calls; 0 tool calls" in shown
    assert main(["resume", file, "-q"]) == 0
    assert capsys.readouterr().out == answer
    assert main(["show", file, "--json"]) == 0
    assert [json.loads(line).get("brain_journal") for line in capsys.readouterr().out.splitlines()] == [1, None]


def test_a_file_is_not_replaced_and_a_wrong_one_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, and one line on stderr."""
    file = tmp_path / "run.jsonl"
    file.write_text("{}\n")
    for command in (["run", "react", "x", "--journal", str(file)], ["show", str(file)], ["resume", str(file)]):
        assert main(command) == 2
        assert "brain: " in capsys.readouterr().err
    assert main(["show", str(tmp_path / "none")]) == 2


def test_a_tool_call_that_was_under_way_is_asked_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``--observed`` says what came of it, ``--approve`` makes it again, ``--deny`` refuses it."""
    for decision, code in ((["--observed", "4"], 1), (["--approve"], 1), (["--deny", "never"], 1), ([], 1)):
        file = tmp_path / f"{len(decision)}{(decision or ['none'])[0]}.jsonl"
        model = ScriptedProvider(["Action: calculator\nAction Input: 2+2"])
        with pytest.raises(KeyboardInterrupt):
            ReActAgent({"calculator": calculator}, model, max_steps=1).run("t", journal=file)
        assert main(["show", str(file)]) == 0
        assert "-> begun, not recorded" in capsys.readouterr().out
        assert main(["resume", str(file), "--tool", "calculator", "--max-steps", "1", *decision]) == code
        said = capsys.readouterr().err
        expected = {"--observed": "max_steps", "--approve": "max_steps", "--deny": "not approved: never"}
        assert expected.get((decision or [""])[0], "was begun and its outcome was not recorded") in said


def test_a_changed_setting_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both sides of the difference, and no traceback."""
    file = str(tmp_path / "run.jsonl")
    assert main(["run", "react", "hello", "--journal", file, "-q"]) == 0
    assert main(["resume", file, "--tool", "calculator", "-q"]) == 1
    assert "recorded: ask with 2 messages" in capsys.readouterr().err


def test_a_pattern_of_one_s_own_is_resumed_in_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command line says so."""

    class Mine(ReActAgent):
        pass

    file = tmp_path / "run.jsonl"
    Mine(provider=ScriptedProvider(["Final Answer: x"])).run("t", journal=file, hooks=[ApprovalGate()])
    assert main(["resume", str(file)]) == 2
    assert "is of a run of 'Mine', which the command line cannot make" in capsys.readouterr().err
