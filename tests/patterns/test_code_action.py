"""Code-action: checks 27 to 47 of the specification, with real programs in a real sandbox."""

from __future__ import annotations

import datetime
import json
import os
import time
from typing import Any, Literal

import pytest

from brain.errors import CodeActionBudgetError, ConfigurationError, GraphExecutionError, PolicyDenied
from brain.patterns import CodeAction
from brain.policy import Act
from brain.runtime import ActionEnded, ActionStarted, Hook, Journal
from brain.sandbox import SubprocessSandbox
from brain.testing import ScriptedProvider
from brain.types import PatternResult

SANDBOX = SubprocessSandbox(require=())


def program(code: str) -> str:
    return f"Here it is.\n```python\n{code}\n```"


def rec(i: int) -> int:
    """Return twice the number of a record."""
    return 2 * i


def run(*replies: Any, tools: Any = None, hooks: Any = (), **options: Any) -> tuple[PatternResult, ScriptedProvider]:
    model = ScriptedProvider(list(replies))
    pattern = CodeAction({"rec": rec} if tools is None else tools, model, sandbox=SANDBOX, **options)
    return pattern.run("Sum the records 0 to 4.", hooks=hooks), model


def said(model: ScriptedProvider, number: int) -> str:
    return str(list(model.requests[number - 1].messages))


def test_check_27_a_program_sums_over_tool_calls_in_one_request() -> None:
    """One model request, five tool calls in the report, nothing of the program in later requests."""
    result, model = run(program('print("RESULT:", sum(rec(i) for i in range(5)))'))
    assert (result.ok, result.answer, len(model.requests)) == (True, "20", 1)
    assert result.report.tool_calls == 5
    assert result.report.programs == 1


def test_check_28_past_the_cap_output_is_discarded_and_a_repair_is_asked_for() -> None:
    """Exactly three executions, whatever the program catches."""
    seen: list[int] = []

    def count(i: int) -> int:
        seen.append(i)
        return i

    greedy = (
        "n = 0\nfor i in range(10):\n    try:\n        count(i); n += 1\n    except Exception:\n        pass\n"
        "print('RESULT:', n)"
    )
    result, model = run(program(greedy), program("print('RESULT: 42')"), tools={"count": count}, max_tool_calls=3)
    assert (result.answer, seen, len(model.requests)) == ("42", [0, 1, 2], 2)


def test_check_29_a_model_that_gives_up_fails_the_run() -> None:
    """A budget error that says the cap and the attempts; no answer."""
    result, _ = run(program("for i in range(9): rec(i)"), "CANNOT_FINISH_WITHIN_CALL_CAP", max_tool_calls=3)
    error = result.exception
    assert isinstance(error, CodeActionBudgetError)
    assert isinstance(error, GraphExecutionError)
    assert (result.ok, result.answer, error.max_tool_calls, error.attempts) == (False, "", 3, 2)


def test_check_30_without_repairs_the_cap_ends_the_run_and_failed_calls_count() -> None:
    """Three failed calls use up a cap of three."""
    tried: list[int] = []

    def fails(i: int) -> int:
        tried.append(i)
        raise ValueError("no")

    code = "for i in range(5):\n    try:\n        fails(i)\n    except Exception:\n        pass\nprint('RESULT: 1')"
    result, _ = run(program(code), tools={"fails": fails}, max_tool_calls=3, max_repairs=0)
    assert isinstance(result.exception, CodeActionBudgetError)
    assert tried == [0, 1, 2]


def test_check_31_the_cap_is_mentioned_and_its_number_is_not() -> None:
    """Neither in the prompt nor in the feedback; sampling is forbidden."""
    _, model = run(program("for i in range(9): rec(i)"), program("print('RESULT: 1')"), max_tool_calls=7)
    first, second = said(model, 1), said(model, 2)
    assert "cap" in first
    assert "sample" in first
    assert "7" not in first
    assert "7" not in second.replace(first, "")


def test_check_32_a_program_that_crashes_is_repaired() -> None:
    """The feedback holds what was raised."""
    result, model = run(program("1/0"), program("print('RESULT: ok')"))
    assert (result.answer, len(model.requests), result.report.programs) == ("ok", 2, 2)
    assert "ZeroDivisionError" in said(model, 2)


def test_check_33_a_program_past_its_time_is_killed() -> None:
    """It counts as a failed attempt."""
    began = time.monotonic()
    result, model = run(program("import time\ntime.sleep(60)"), program("print('RESULT: 1')"), exec_timeout=1)
    assert result.answer == "1"
    assert time.monotonic() - began < 20
    assert "time limit" in said(model, 2)


@pytest.mark.parametrize("reply", ["", "42", program("x = 1"), program("print(3)"), "```python\n\n```"])
def test_check_34_no_program_or_no_answer_is_a_failed_attempt(reply: str) -> None:
    """Never an empty answer."""
    result, model = run(reply, program("final_answer('second')"))
    assert (result.answer, len(model.requests)) == ("second", 2)
    result, _ = run(reply, max_repairs=0)
    assert not result.ok
    assert isinstance(result.exception, GraphExecutionError)


def test_check_35_an_answer_may_have_several_lines() -> None:
    """All that follows the marker; the marker alone is a failure."""
    result, _ = run(program("print('RESULT: line1')\nprint('line2')"))
    assert result.answer == "line1\nline2"
    assert not run(program("print('RESULT:')"), max_repairs=0)[0].ok


@pytest.mark.parametrize("tag", ["python3", "Python", "py", ""])
def test_check_36_fences_are_tagged_in_many_ways(tag: str) -> None:
    """Or not at all."""
    assert run(f"```{tag}\nprint('RESULT: 1')\n```")[0].answer == "1"


def test_check_37_defaults_stay_the_tool_s_own() -> None:
    """Only what the program gives reaches the tool; the prompt shows types and defaults."""
    got: list[Any] = []

    def opt(q: str, limit: int = 5, *rest: int) -> str:
        """Find something."""
        got.append((q, limit))
        return q

    result, model = run(program("opt('a')\nopt('a', limit=2)\nprint('RESULT: x')"), tools={"opt": opt})
    assert result.ok, result.error
    assert got == [("a", 5), ("a", 2)]
    assert "def opt(q: str, limit: int = 5" in said(model, 1)
    assert "Find something." in said(model, 1)


def test_check_38_odd_names_have_an_alias() -> None:
    """The others keep working, and print still prints."""

    def loud(text: str) -> str:
        return text.upper()

    def named(**options: str) -> str:
        return options["from"]

    tools = {"get-item": loud, "print": loud, "class": loud, "rec": rec, "named": named}
    code = "print('RESULT:', get_item('a'), print_('b'), class_('c'), rec(2), named(**{'from': 'd'}))"
    result, _ = run(program(code), tools=tools)
    assert (result.ok, result.answer) == (True, "A B C 4 d"), result.error


def test_check_39_values_cross_without_changing_or_raise() -> None:
    """Text that looks like a number stays text; what cannot cross is an error in the program."""
    tools = {"text": lambda: "42", "nested": lambda: {"a": [1, 2.5, None, True]}, "odd": lambda: object()}
    result, _ = run(program("print('RESULT:', repr(text()), repr(nested()))"), tools=tools)
    assert result.answer == "'42' {'a': [1, 2.5, None, True]}"
    code = (
        "try:\n    odd()\n    print('RESULT: crossed')\nexcept Exception as e:\n    print('RESULT:', type(e).__name__)"
    )
    assert run(program(code), tools=tools)[0].answer != "crossed"
    dates = {"day": lambda: datetime.date(2026, 12, 1), "both": lambda: {1: (1, 2)}}
    result, _ = run(program("print('RESULT:', repr(day()), repr(both()))"), tools=dates)
    assert result.ok, result.error


def test_check_40_an_argument_that_cannot_cross_is_a_type_error_and_no_call() -> None:
    """It does not count against the cap."""
    code = "try:\n    rec({object()})\nexcept TypeError:\n    print('RESULT:', rec(1))"
    result, _ = run(program(code), max_tool_calls=1)
    assert (result.answer, result.report.tool_calls) == ("2", 1)


def test_check_41_a_tool_s_exception_is_raised_in_the_program() -> None:
    """With type and message; the program may catch it and succeed."""

    def boom() -> None:
        raise LookupError("kaput")

    code = "try:\n    boom()\nexcept Exception as e:\n    print('RESULT:', type(e).__name__, e)"
    assert run(program(code), tools={"boom": boom})[0].answer == "LookupError kaput"

    def lost() -> None:
        raise KeyError("west")

    code = "try:\n    boom()\nexcept KeyError as e:\n    final_answer(e.args[0])"
    assert run(program(code), tools={"boom": lost})[0].answer == "west"


def test_signatures_are_shown_as_they_were_written() -> None:
    """Annotations that are texts without the quotes around them, defaults with theirs."""

    def depth(side: Literal["port", "starboard"] = "port", unit: str = "m") -> float:
        """Tell the depth."""
        return 1.0

    _, model = run(program("final_answer('x')"), tools={"depth": depth})
    written = "def depth(side: Literal['port', 'starboard'] = 'port', unit: str = 'm') -> float:  # Tell the depth."
    assert written in model.requests[0].messages[-1]["content"]


def test_check_46_settings_are_checked_at_construction() -> None:
    """At once, as a ValueError."""
    for options in ({"exec_timeout": 0}, {"max_repairs": -1}, {"max_tool_calls": 0}, {"exec_timeout": "1"}):
        with pytest.raises(ConfigurationError):
            CodeAction(**options)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        CodeAction(foo=1)  # type: ignore[call-arg]


def test_check_47_a_refused_call_is_an_error_in_the_program() -> None:
    """The tool does not run; the call counts."""
    ran: list[int] = []

    class Refuses(Hook):
        def pre_tool_call(self, action: Act) -> None:
            if action.tool == "touch":
                raise PolicyDenied("not that")

    def touch(i: int) -> int:
        ran.append(i)
        return i

    code = "try:\n    touch(1)\nexcept Exception as e:\n    print('RESULT:', e)"
    result, _ = run(program(code), tools={"touch": touch}, hooks=[Refuses()])
    assert (ran, result.report.tool_calls) == ([], 1)
    assert "not that" in result.answer


def test_a_hook_may_refuse_the_program_itself() -> None:
    """It is shown as a call of the tool `program`; nothing runs then."""

    class NoPrograms(Hook):
        def pre_tool_call(self, action: Act) -> None:
            if action.tool == "program":
                raise PolicyDenied(f"no programs with {len(action.input['program'])} characters")

    result, _ = run(program("print('RESULT: 1')"), hooks=[NoPrograms()])
    assert (result.ok, result.report.programs, result.report.model_calls) == (False, 0, 1)
    assert "no programs with 18 characters" in (result.error or "")


def test_calls_of_a_program_are_events_and_no_entries() -> None:
    """They have ids of their own, and the journal replays without them."""
    model = ScriptedProvider([program("print('RESULT:', rec(1) + rec(2))")])
    pattern = CodeAction({"rec": rec}, model, sandbox=SANDBOX)
    events = list(pattern.stream("t"))
    started = [event.id for event in events if isinstance(event, ActionStarted)]
    ended = [event.id for event in events if isinstance(event, ActionEnded)]
    assert started == [0, 1, "1.1", "1.2"]
    assert ended == [0, "1.1", "1.2", 1]
    result = events[-1].result  # type: ignore[union-attr]
    assert [step.action for step in result.steps] == ["program"]
    journal = Journal.from_lines(json.dumps(json.loads(line)) for line in result.journal.to_lines())
    again = CodeAction({"rec": rec}, ScriptedProvider([]), sandbox=SANDBOX).resume(journal)
    assert (again.answer, again.report.tool_calls) == ("6", 2)


def test_nothing_of_the_host_s_environment_reaches_a_program() -> None:
    """Not even a variable."""
    os.environ["BRAIN_TEST_SECRET"] = "tell nobody"
    result, _ = run(program("import os\nprint('RESULT:', os.environ.get('BRAIN_TEST_SECRET'))"))
    del os.environ["BRAIN_TEST_SECRET"]
    assert result.answer == "None"
