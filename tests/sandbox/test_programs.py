"""What programs can do, on every executor; the numbers are those of the list of what must be observable."""

from __future__ import annotations

import datetime
import threading
import time

import pytest

from brain.errors import ConfigurationError, SandboxError, SandboxTimeout, WrongType
from brain.sandbox import GUARANTEES, Sandbox


def add(a, b):
    """Add two numbers."""
    return a + b


def test_an_executor_is_a_sandbox_and_says_what_it_gives(executor):
    """Each guarantee is named, and each holds where the default lets programs run at all."""
    assert isinstance(executor, Sandbox)
    assert executor.guarantees() == dict.fromkeys(GUARANTEES, True)


def test_27_a_program_sums_over_a_tool(executor):
    """Five calls, one answer after the marker; the report has the count."""
    report = executor.run("total = sum(rec(i) for i in range(5))\nprint('RESULT:', total)", {"rec": lambda i: 2 * i})
    assert (report.ok, report.answer, report.tool_calls, report.error) == (True, "20", 5, None)


def test_28_the_cap_holds_against_a_program_that_catches_everything(executor):
    """Ten calls for a cap of three: three run, and what it printed is no answer."""
    ran = []
    program = (
        "n = 0\nfor i in range(10):\n    try:\n        t(i)\n        n += 1\n    except BaseException:\n"
        "        pass\nprint('RESULT:', n)"
    )
    report = executor.run(program, {"t": ran.append}, max_tool_calls=3)
    assert ran == [0, 1, 2]
    assert (report.ok, report.answer, report.budget_exceeded, report.tool_calls, report.refused_calls) == (
        False,
        None,
        True,
        3,
        7,
    )
    assert report.error_type == "ToolBudgetExceeded"
    assert report.stdout == "RESULT: 3\n"
    again = executor.run("print('RESULT: 42')", {"t": ran.append}, max_tool_calls=3)
    assert (again.ok, again.answer) == (True, "42")


def test_30_failing_calls_count_and_exactly_the_cap_succeeds(executor):
    """Three failures use up a cap of three; a cap of n lets n through."""

    def boom():
        raise ValueError("kaput")

    program = "for i in range(4):\n    try:\n        boom()\n    except ValueError as e:\n        print(e)\n"
    report = executor.run(program, {"boom": boom}, max_tool_calls=3)
    assert report.stdout == "kaput\n" * 3
    assert report.error_type == "ToolBudgetExceeded"
    assert "line 3" in report.error
    assert executor.run("print(sum(add(i, 1) for i in range(4)))", {"add": add}, max_tool_calls=4).stdout == "10\n"
    assert executor.run("print(1)", {"add": add}, max_tool_calls=0).ok


def test_32_a_crash_says_what_and_where(executor):
    """The error is the program's own traceback, from its first line on, and names no path of the host."""
    report = executor.run("def f(x):\n    return 1 / x\n\nf(0)\n")
    assert (report.ok, report.error_type, report.killed_by) == (False, "ZeroDivisionError", "")
    assert report.error.startswith("Traceback (most recent call last):")
    assert 'File "<program>", line 2, in f\n    return 1 / x' in report.error
    assert report.error.endswith("ZeroDivisionError: division by zero")
    assert "brain" not in report.error
    syntax = executor.run("def f(:\n    pass")
    assert syntax.error_type == "SyntaxError"
    assert "line 1" in syntax.error


def test_33_a_program_past_its_time_is_ended(executor):
    """A sleep, and one that ignores every signal, end at the deadline; what was printed is kept."""
    for program in (
        "print('begun')\nimport time\ntime.sleep(60)",
        "print('begun')\nimport signal, time\nfor n in signal.valid_signals():\n"
        "    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\ntime.sleep(60)",
    ):
        started = time.monotonic()
        report = executor.run(program, timeout=0.5)
        assert time.monotonic() - started < 20
        assert (report.ok, report.killed_by, report.stdout) == (False, "timeout", "begun\n")
        with pytest.raises(SandboxTimeout, match=r"0\.5 s"):
            report.raise_for_error()


def test_34_a_program_that_gives_no_answer_has_none(executor):
    """Nothing printed, or nothing marked, is no answer."""
    for program in ("x = 1 + 1", "", "print('hello')", "print('RESULT:')", "print('RESULT:   \\n\\n')"):
        report = executor.run(program)
        assert (report.ok, report.answer) == (True, None)


def test_35_an_answer_may_have_several_lines(executor):
    """All that follows the marker is the answer, and only a line's beginning is a marker."""
    assert executor.run("print('see RESULT: no')\nprint('RESULT: line1\\nline2')").answer == "line1\nline2"
    assert executor.run("print('RESULT:')\nprint('a')\nprint('  b')").answer == "a\n  b"


def test_final_answer_ends_the_program_with_a_value(executor):
    """The first one counts, types survive, and ``except Exception`` does not hold it up."""
    program = (
        "print('RESULT: other')\ntry:\n    final_answer({'n': (1, 2)})\nexcept Exception:\n    pass\n"
        "final_answer(0)\nprint('never')"
    )
    report = executor.run(program)
    assert (report.ok, report.answered, report.value, report.answer) == (True, True, {"n": (1, 2)}, {"n": (1, 2)})
    assert report.stdout == "RESULT: other\n"
    assert executor.run("final_answer({3, 4})").value == {3, 4}
    assert executor.run("final_answer(object())").error_type == "TypeError"
    assert executor.run("final_answer(None)").answered
    assert len(executor.run("final_answer('x' * (1 << 20))").answer) == 1 << 20


def test_37_only_supplied_arguments_reach_a_tool(executor):
    """Defaults, keywords and wrong arguments are the real function's; a call that does not fit reaches nobody."""
    seen = []

    def opt(q: str, limit: int = 5, *, deep=False, default=object()):
        """Look something up."""
        return q

    def on_call(name, args, kwargs):
        seen.append((name, args, kwargs))

    program = (
        "import inspect\nopt('a')\nopt('a', limit=2)\nopt(q='b', deep=True)\n"
        "for bad in (lambda: opt(), lambda: opt('a', 1, 2), lambda: opt('a', nope=1)):\n"
        "    try:\n        bad()\n    except TypeError as e:\n        print(e)\n"
        "known = inspect.signature(opt).parameters\nprint(list(known), known['limit'].default, opt.__doc__)"
    )
    report = executor.run(program, {"opt": opt}, on_call=on_call)
    assert seen == [("opt", ["a"], {}), ("opt", ["a"], {"limit": 2}), ("opt", [], {"q": "b", "deep": True})]
    assert report.stdout.splitlines() == [
        "opt() missing 1 required positional argument: 'q'",
        "opt() takes from 1 to 2 positional arguments but 3 were given",
        "opt() got an unexpected keyword argument 'nope'",
        "['q', 'limit', 'deep', 'default'] 5 Look something up.",
    ]
    assert report.tool_calls == 3


def test_38_odd_names_have_aliases_and_hide_nothing(executor):
    """Every tool can be called, as a global and from ``tools``; ``print`` still prints."""
    tools = {
        name: (lambda n: lambda *a, **k: n)(name)
        for name in ("get-item", "print", "class", "2nd", "final_answer", "ok", "ok_", "a.b")
    }
    program = (
        "import tools\nfrom tools import ok\n"
        "print(get_item(), print_(), class_(), tool_2nd(), final_answer_(), ok(), ok_(), tools.a_b())"
    )
    report = executor.run(program, tools)
    assert report.stdout == "get-item print class 2nd final_answer ok ok_ a.b\n", report.error


def test_38_an_argument_may_have_any_name(executor):
    """A schema's property that is a keyword goes by another name in the program and by its own at the tool."""

    class Mail:
        description = "Send."
        parameters = {
            "type": "object",
            "properties": {"from": {"type": "string"}, "to-all": {"default": 3}},
            "required": ["from"],
        }

        def __call__(self, **kwargs):
            return kwargs

    report = executor.run("print(mail(from_='a'), mail('b', to_all=1))", {"mail": Mail()})
    assert report.stdout == "{'from': 'a'} {'from': 'b', 'to-all': 1}\n", report.error


def test_39_results_keep_their_types(executor):
    """Tuples, sets, dates and integer keys arrive; text stays text; what cannot cross raises in the program."""
    values = [{1: (1, 2)}, datetime.date(2024, 2, 29), {1, 2}, "42", b"\x00", None]
    program = (
        "for i in range(6):\n    print(repr(get(i)))\n"
        "try:\n    get(6)\nexcept TypeError as e:\n    print(e)\ntry:\n    get(7)\nexcept ValueError as e:\n"
        "    print(e)"
    )
    report = executor.run(program, {"get": lambda i: [*values, {"rows": [1, object()]}, float("nan")][i]})
    lines = report.stdout.splitlines()
    assert lines[:6] == ["{1: (1, 2)}", "datetime.date(2024, 2, 29)", "{1, 2}", "'42'", "b'\\x00'", "None"]
    assert "object" in lines[6]
    assert "nan" in lines[7]
    assert report.tool_calls == 8


def test_40_a_set_is_no_argument(executor):
    """It raises in the program and is not counted."""
    report = executor.run("try:\n    add({1}, 2)\nexcept TypeError as e:\n    print(e)", {"add": add})
    assert report.ok
    assert "set" in report.stdout
    assert (report.tool_calls, report.refused_calls) == (0, 0)


def test_41_a_tools_error_is_raised_in_the_program(executor):
    """Type and message are the tool's; a program that copes is ok, one that does not has that error."""

    class Odd(Exception):
        """A type of the host's own."""

    def fail(how):
        raise {"value": ValueError("no"), "key": KeyError("k"), "odd": Odd("strange"), "stop": StopIteration("s")}[how]

    program = (
        "for how in ('value', 'key', 'odd', 'stop'):\n    try:\n        fail(how)\n"
        "    except Exception as e:\n        print(type(e).__name__, e, isinstance(e, (ValueError, ToolError)))"
    )
    report = executor.run(program, {"fail": fail})
    assert report.stdout == "ValueError no True\nKeyError 'k' False\nOdd strange True\nStopIteration s True\n"
    assert report.ok
    lost = executor.run("fail('odd')", {"fail": fail})
    assert (lost.ok, lost.error_type) == (False, "Odd")


def test_42_noise_on_the_channel_is_a_clear_failure(executor):
    """A program that writes into every descriptor it has ends at once, with the reason."""
    started = time.monotonic()
    program = (
        "import os\nfor fd in range(3, 64):\n    try:\n"
        "        os.write(fd, b'hello there, this is no frame')\n    except OSError:\n        pass\n"
        "import time\ntime.sleep(30)"
    )
    report = executor.run(program, timeout=20)
    assert (report.ok, report.killed_by) == (False, "channel")
    assert "tool channel" in report.error
    assert time.monotonic() - started < 30


def test_43_two_hundred_calls_take_less_than_a_second(make_executor):
    """Without a container, a call costs well below a millisecond."""
    started = time.monotonic()
    report = make_executor("subprocess").run("for i in range(200): noop()", {"noop": lambda: None}, max_tool_calls=200)
    assert (report.ok, report.tool_calls) == (True, 200)
    assert time.monotonic() - started < 10


def test_44_a_large_text_arrives_whole(executor):
    """A mebibyte of text, of any alphabet, comes as it was; past the limits it raises and the run goes on."""
    texts = ["x" * (1 << 20), "é" * (1 << 19), '😀\\"\n' * 100_000]
    program = "import hashlib\nfor i in range(3):\n    print(hashlib.sha256(big(i).encode()).hexdigest())"
    import hashlib

    report = executor.run(program, {"big": lambda i: texts[i]})
    assert report.stdout.split() == [hashlib.sha256(each.encode()).hexdigest() for each in texts]
    program = (
        "try:\n    big()\nexcept ValueError as e:\n    print('large' in str(e))\n"
        "try:\n    echo('x' * (2 << 20))\nexcept ValueError as e:\n    print('large' in str(e))\n"
        "print(len(echo('y' * 900000)))"
    )
    report = executor.run(program, {"big": lambda: "x" * (5 << 20), "echo": lambda x: x})
    assert report.stdout == "True\nTrue\n900000\n"


def test_45_threads_of_a_program_get_their_own_results(executor):
    """Eight threads, two hundred calls, no mix-up; past the cap exactly as many are refused."""
    program = (
        "import threading\nbad = []\ndef work(k):\n    for i in range(25):\n"
        "        if same([k, i]) != [k, i]:\n            bad.append((k, i))\n"
        "ts = [threading.Thread(target=work, args=(k,)) for k in range(8)]\n"
        "for t in ts: t.start()\nfor t in ts: t.join()\nprint(len(bad))"
    )
    report = executor.run(program, {"same": lambda x: x}, max_tool_calls=200)
    assert (report.ok, report.stdout, report.tool_calls) == (True, "0\n", 200), report.error
    ran = []
    program = (
        "import concurrent.futures\n"
        "def one(i):\n    try:\n        t(i)\n        return 1\n    except ToolBudgetExceeded:\n        return 0\n"
        "with concurrent.futures.ThreadPoolExecutor(8) as pool:\n    print(sum(pool.map(one, range(40))))"
    )
    report = executor.run(program, {"t": ran.append}, max_tool_calls=17)
    assert (report.stdout, len(ran), report.refused_calls, report.ok) == ("17\n", 17, 23, False)


def test_46_wrong_settings_raise_at_once(executor):
    """A mistake of the programmer's is no report."""
    for options in (
        {"timeout": 0},
        {"timeout": -1},
        {"max_tool_calls": -1},
        {"require": ["no_such"]},
        {"timeout": float("nan")},
    ):
        with pytest.raises(ConfigurationError):
            executor.run("1", **options)
    for options in ({"timeout": "1"}, {"max_tool_calls": 1.5}, {"max_tool_calls": True}):
        with pytest.raises(WrongType):
            executor.run("1", **options)
    with pytest.raises(WrongType):
        executor.run(b"1")


def test_47_a_call_that_is_denied_raises_in_the_program_and_counts(executor):
    """What stands between the program and the tool may refuse; then the tool does not run."""
    ran = []

    def guard(name, args, kwargs):
        raise PermissionError(f"{name} is not allowed")

    report = executor.run(
        "try:\n    t(1)\nexcept PermissionError as e:\n    print(e)", {"t": ran.append}, on_call=guard
    )
    assert (report.ok, report.stdout, report.tool_calls, ran) == (True, "t is not allowed\n", 1, [])


def test_an_interruption_in_a_tool_ends_the_run_and_gets_through(executor):
    """``KeyboardInterrupt`` is the host's, never the program's."""

    def stop():
        raise KeyboardInterrupt

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        executor.run("try:\n    stop()\nexcept BaseException:\n    pass\nwhile True: pass", {"stop": stop})
    assert time.monotonic() - started < 30


def test_ten_thousand_calls(make_executor):
    """A long conversation is as right as a short one, and costs the same per call."""
    report = make_executor("subprocess").run(
        "print(sum(add(i, 1) for i in range(10000)))", {"add": add}, max_tool_calls=10_000
    )
    assert (report.stdout, report.tool_calls) == ("50005000\n", 10_000), report.error


def test_output_is_kept_up_to_a_limit(make_executor, request):
    """The beginning is kept, the rest counted; a flood ends the run; a cut answer is none."""
    small = make_executor("subprocess", output=1000)
    report = small.run("print('RESULT: ' + 'x' * 5000)")
    assert (report.ok, report.truncated, len(report.stdout), report.answer) == (True, True, 1000, None)
    flood = small.run("while True:\n    print('x' * 1000)", timeout=60)
    assert (flood.ok, flood.killed_by, len(flood.stdout)) == (False, "output", 1000)


def test_any_bytes_of_output_become_text(executor):
    """Undecodable bytes and lone surrogates neither raise nor vanish."""
    report = executor.run(
        "import sys\nprint('\\ud800')\nsys.stdout.buffer.write(b'\\xff\\n')\nsys.stdout.buffer.flush()"
    )
    assert report.stdout == "\\ud800\n\ufffd\n"
    report.stdout.encode()
    error = executor.run("raise ValueError('\\ud800')")
    assert error.error.endswith("ValueError: \\ud800")


def test_standard_error_is_kept_apart(executor):
    """A warning is no answer."""
    report = executor.run("import sys\nprint('RESULT: 1')\nprint('careful', file=sys.stderr)")
    assert (report.stdout, report.stderr, report.answer) == ("RESULT: 1\n", "careful\n", "1")
    assert report.output == "RESULT: 1\n\ncareful\n"


def test_a_program_is_the_main_module(executor):
    """``__main__`` holds, standard input is empty, arguments are none, dataclasses and pickles find their names."""
    program = (
        "import dataclasses, pickle, sys\n@dataclasses.dataclass\nclass P:\n    x: int\n"
        "if __name__ == '__main__':\n    print(pickle.loads(pickle.dumps(P(1))), sys.argv[1:])\n"
        "try:\n    input('Who? ')\nexcept EOFError as e:\n    print(e)"
    )
    assert executor.run(program).stdout == "P(x=1) []\nWho? EOF when reading a line\n"
    report = executor.run("import sys\nprint('a', file=sys.__stdout__)\nprint(len('\ud800'))\nexit()")
    assert (report.ok, report.stdout) == (True, "a\n1\n"), report.error


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("import os; os._exit(0)", "exit status 0"),
        ("import os; os._exit(7)", "exit status 7"),
        ("import sys; sys.exit('no data')", "no data"),
        ("import os; os.closerange(0, 64)\nwhile True: pass", "was ended"),
        ("import ctypes; ctypes.string_at(1)", "SIGSEGV"),
        ("import os; os.abort()", "by SIG"),  # the first process of a namespace does not die of SIGABRT itself
    ],
)
def test_an_end_that_is_none_says_how(executor, program, says):
    """A program that ends before it has finished is not ok, whatever its status."""
    report = executor.run(program, timeout=3)
    assert not report.ok
    assert says in report.error
    with pytest.raises(SandboxError):
        report.raise_for_error()


def test_leaving_with_status_zero_is_an_end(executor):
    """``sys.exit()`` and threads left running do not spoil a program that has finished."""
    program = (
        "import sys, threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\n"
        "print('RESULT: 1')\nsys.exit(0)"
    )
    started = time.monotonic()
    assert executor.run(program).answer == "1"
    assert time.monotonic() - started < 30


def test_runs_share_nothing(executor):
    """A name overwritten, a module changed, a file left behind: the next run finds nothing of it (case CR-011)."""
    tools = {"search": lambda q: "R:" + q}
    first = "import random\nrandom.left = 1\nopen('/tmp/left', 'w').close()\nsearch = search('a')\nprint(search)"
    second = "import os, random\nprint(search('b'), hasattr(random, 'left'), os.listdir('/tmp'))"
    assert executor.run(first, tools).stdout == "R:a\n"
    assert executor.run(second, tools).stdout == "R:b False []\n"


def test_runs_from_many_threads(make_executor):
    """One executor, eight threads: each run has its own answer, and nothing is left open."""
    import os

    executor = make_executor("subprocess")
    executor.run("1")
    before = len(os.listdir("/proc/self/fd"))
    answers: dict[int, str] = {}

    def work(k):
        for _ in range(3):
            answers[k] = executor.run(f"print('RESULT:', same({k}))", {"same": lambda x: x}).answer

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert answers == {k: str(k) for k in range(8)}
    assert len(os.listdir("/proc/self/fd")) == before
