"""The command line: data on stdout, progress on stderr.

Exit codes: 0 the run succeeded, 1 it failed, 2 the command was wrong, 130 it was stopped with Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from brain._version import __version__
from brain.agent import PATTERNS, build_agent, pattern_class
from brain.cli.journals import add_commands, decision_of, pattern_of
from brain.errors import ConfigurationError, ReplayMismatch, SandboxError
from brain.runtime import Event, StepEnded
from brain.tools import plain
from brain.trace import as_text, step_line, to_dict, visible
from brain.types import PatternResult

if TYPE_CHECKING:
    from brain.graph import PromptGraph
    from brain.patterns import BasePattern
    from brain.types import LLMProvider

__all__ = ["main"]

_CLASSES = {"react": "react-text", "react-native": "react"}
"""Names of the command line that are others in ``build_agent``: here ``react`` is what runs on every model."""
_PATTERNS = ["react", "react-native", *(name for name in PATTERNS if name not in ("react", "react-text", "pipeline"))]
_WRITTEN = ("react", "reflexion", "plan-and-execute", "tree-of-thoughts", "orchestrator", "self-consistency")
"""Patterns that are algorithms and no graphs: there is nothing to draw."""
_DRAWN = [name for name in _PATTERNS if name not in _WRITTEN]

_EXAMPLES = """\
examples:
  brain demo react
  brain run react "What is 17 * 23?" --tool calculator --base-url http://127.0.0.1:8080/v1 --model my-model
  echo "What day is it?" | brain run react - --tool clock --json

environment:
  BRAIN_BASE_URL, BRAIN_MODEL   the model to ask, where the options do not say
  BRAIN_API_KEY                 its key; keys are never taken from the command line
  NO_COLOR, FORCE_COLOR         no colours; colours also without a terminal
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Args:
        argv: the arguments, without the program's name; by default those of the process.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a reply may hold what the terminal's encoding does not know
            stream.reconfigure(errors="backslashreplace")
    options = _parser().parse_args(argv)
    try:
        code: int = options.command(options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has gone: `brain … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141  # 128 + SIGPIPE, as shells have it
    except (ConfigurationError, OSError) as error:
        print(f"brain: {error}", file=sys.stderr)
        return 2
    except (ReplayMismatch, SandboxError) as error:
        print(f"brain: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as stop:
        partial = getattr(stop, "partial_result", None)
        if isinstance(partial, PatternResult):
            partial.error = partial.error or "stopped with Ctrl-C"
            _print(partial, options)
        print("brain: stopped", file=sys.stderr)
        return 130
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="brain",
        description="Agent reasoning patterns, from the command line.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"brain {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="run a pattern on a task", description="Run a pattern on a task.")
    run.add_argument(
        "pattern", type=_dashed, choices=_PATTERNS, metavar="PATTERN", help=f"one of {', '.join(_PATTERNS)}"
    )
    run.add_argument("task", help="what to do; - reads it from stdin")
    run.add_argument("--journal", metavar="FILE", help="a new file that the run is recorded in, to be resumed from")
    _run_options(run)
    run.set_defaults(command=_run)
    add_commands(commands, _run_options, _resume)

    demo = commands.add_parser(
        "demo",
        help="watch a pattern at work, offline",
        description="Play a scripted model over real tools and print the whole trace.",
    )
    demo.add_argument(
        "pattern", type=_dashed, choices=_PATTERNS, metavar="PATTERN", help=f"one of {', '.join(_PATTERNS)}"
    )
    demo.set_defaults(command=_demo)
    _output_options(demo)

    doctor = commands.add_parser(
        "doctor",
        help="say what works here",
        description="Say what works on this machine: the interpreter, and what each executor of programs guarantees.",
    )
    doctor.set_defaults(command=_doctor)

    by_hand = commands.add_parser("sandbox", help="run a program in a sandbox", description="Run a program by hand.")
    by_hand.add_argument("file", metavar="FILE", help="a Python file; - reads it from stdin")
    by_hand.add_argument("--kind", choices=["auto", "subprocess", "docker"], default="auto", help="which executor")
    by_hand.add_argument("--timeout", type=float, default=30.0, metavar="SECONDS", help="how long it may run (30)")
    by_hand.add_argument("--require", metavar="NAMES", help="guarantees it must have, with commas; all by default")
    by_hand.set_defaults(command=_sandbox)
    _output_options(by_hand)

    listed = commands.add_parser("patterns", help="list the patterns", description="List the patterns.")
    listed.set_defaults(command=_list_patterns)

    graph = commands.add_parser("graph", help="draw a pattern", description="Print a pattern's diagram as Mermaid.")
    graph.add_argument("pattern", type=_dashed, choices=_DRAWN, metavar="PATTERN", help=f"one of {', '.join(_DRAWN)}")
    graph.add_argument("--describe", action="store_true", help="say it in words instead")
    graph.set_defaults(command=_graph)
    return parser


def _dashed(name: str) -> str:
    """Take a pattern's name with underscores, too."""
    return name.replace("_", "-")


def _run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tool", action="append", default=[], metavar="NAME", help="a demo tool (may be repeated)")
    parser.add_argument(
        "--base-url", metavar="URL", help="an OpenAI-compatible server, such as http://127.0.0.1:8080/v1"
    )
    parser.add_argument("--model", metavar="NAME", help="the model to ask there")
    parser.add_argument("--max-steps", type=int, metavar="N", help="how often the model may be asked (react: 8)")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="how long a reply may be")
    parser.add_argument("--system-prompt", metavar="TEXT", help="used instead of the default")
    _output_options(parser)


def _output_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")


def _run(options: argparse.Namespace) -> int:
    task = sys.stdin.read().strip() if options.task == "-" else options.task
    if not task.strip():
        raise ConfigurationError("the task is empty")
    result = _agent(options).run(task, on_event=None if options.quiet else _progress, journal=options.journal)
    _print(result, options)
    return 0 if result.ok else 1


def _resume(options: argparse.Namespace) -> int:
    """Go on with the run of a journal file; the file says which pattern it is."""
    options.pattern = pattern_of(options.file)
    on_event = None if options.quiet else _progress
    result = _agent(options).resume(options.file, on_event=on_event, **decision_of(options))
    _print(result, options)
    return 0 if result.ok else 1


def _agent(options: argparse.Namespace) -> BasePattern:
    """Make the pattern that the options name; ``react`` is the text protocol, which every model can speak."""
    from brain.cli.tools import DEMO_TOOLS

    unknown = [name for name in options.tool if name not in DEMO_TOOLS]
    if unknown:
        raise ConfigurationError(f"--tool: no tool is called {unknown[0]!r}; there are {', '.join(DEMO_TOOLS)}")
    tools = {name: DEMO_TOOLS[name] for name in options.tool}
    settings = {} if options.system_prompt is None else {"instructions": options.system_prompt}
    if options.pattern == "react":
        limit = {} if options.max_steps is None else {"max_steps": options.max_steps}
        return build_agent("react-text", model=_provider(options), tools=tools, **settings, **limit)
    name = "react" if options.pattern == "react-native" else options.pattern
    return build_agent(name, model=_provider(options), tools=tools, max_agent_iterations=options.max_steps, **settings)


def _doctor(_: argparse.Namespace) -> int:
    from brain.cli.doctor import report

    print(report())
    return 0


def _sandbox(options: argparse.Namespace) -> int:
    """Run a program by hand; the exit code says whether it ran to its end."""
    from brain.sandbox import GUARANTEES, sandbox

    program = sys.stdin.read() if options.file == "-" else Path(options.file).read_text(encoding="utf-8")
    require = (
        tuple(GUARANTEES) if options.require is None else tuple(each for each in options.require.split(",") if each)
    )
    report = sandbox(options.kind, require=require).run(program, timeout=options.timeout)
    if options.json:
        print(json.dumps(plain(report), allow_nan=False))
    else:
        print(report.stdout, end="")
        print(report.stderr, end="", file=sys.stderr)
        if report.answered:
            print(f"answer: {report.value!r}", file=sys.stderr)
        if not report.ok:
            print(f"brain: the program failed: {report.error}", file=sys.stderr)
    return 0 if report.ok else 1


def _list_patterns(_: argparse.Namespace) -> int:
    for name in _PATTERNS:
        first = (pattern_class(_CLASSES.get(name, name)).__doc__ or "").strip().split("\n")[0]
        print(f"{name:<17} {first}")
    return 0


def _graph(options: argparse.Namespace) -> int:
    pattern = pattern_class(_CLASSES.get(options.pattern, options.pattern))()
    graph: PromptGraph = pattern.graph()  # type: ignore[attr-defined]
    print(graph.describe() if options.describe else graph.to_mermaid())
    return 0


def _demo(options: argparse.Namespace) -> int:
    from brain.cli.demo import DEMOS

    demo = DEMOS[options.pattern]
    result = demo.make().run(demo.task)
    if options.json:
        _print(result, options)
    else:
        print(as_text(result, colour=_colour(sys.stdout)))
    return 0 if result.ok else 1


def _provider(options: argparse.Namespace) -> LLMProvider | None:
    """Return the model that options and environment name; none means the offline echo, which is said."""
    base_url = options.base_url or os.environ.get("BRAIN_BASE_URL", "")
    model = options.model or os.environ.get("BRAIN_MODEL", "")
    if base_url:
        from brain.providers import ChatCompletionsProvider

        if not model:
            raise ConfigurationError("--base-url needs a --model (or BRAIN_MODEL)")
        limits = {} if options.max_tokens is None else {"max_tokens": options.max_tokens}
        key = os.environ.get("BRAIN_API_KEY") or None
        provider: LLMProvider = ChatCompletionsProvider(base_url, model, key, **limits)
        return provider
    if model:
        from brain.providers import provider as named

        found: LLMProvider = named(model)
        return found
    print("brain: no model is named (--base-url and --model); offline, the task is only echoed", file=sys.stderr)
    return None


def _progress(event: Event) -> None:
    if isinstance(event, StepEnded):
        print(step_line(event.step), file=sys.stderr, flush=True)


def _print(result: PatternResult, options: argparse.Namespace) -> None:
    if options.json:
        print(json.dumps(to_dict(result), allow_nan=False))
        return
    if result.answer:
        print(visible(result.answer) if sys.stdout.isatty() else result.answer)
    if not result.ok:
        print(f"brain: the run failed: {result.error}", file=sys.stderr)


def _colour(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"
