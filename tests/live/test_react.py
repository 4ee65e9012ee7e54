"""ReActAgent and the command line against a real model: what must hold whatever the model says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brain import ChatCompletionsProvider, PatternResult, ProviderError, ReActAgent, Usage
from brain.cli.tools import calculator

TASK = "What is 17 * 23?"
ROOT = Path(__file__).parent.parent.parent


def provider(live_server: Any, max_tokens: int = 64) -> ChatCompletionsProvider:
    return ChatCompletionsProvider(live_server.base_url, live_server.model, max_tokens=max_tokens, timeout=60)


def test_a_model_replies_with_text_usage_and_the_reason_it_stopped(live_server: Any) -> None:
    """A story of at most 8 tokens is cut off, and the reply says so and how many tokens it took."""
    reply = provider(live_server, max_tokens=8).generate([{"role": "user", "content": "Tell a very long story."}])
    assert reply.text.strip()
    assert reply.finish_reason == "length"
    assert reply.usage is not None
    assert reply.usage.output_tokens == 8
    assert reply.usage.input_tokens > 5


@pytest.fixture(scope="module")
def result(live_server: Any) -> PatternResult:
    agent = ReActAgent({"calculator": calculator}, provider(live_server), max_steps=3)
    return agent.run(TASK)


def test_an_agent_comes_to_a_result(result: PatternResult) -> None:
    """A run ends with an answer, or with an error that says why; the server itself never failed."""
    assert isinstance(result, PatternResult)
    assert not isinstance(result.exception, ProviderError), result.error
    assert result.state == "TERMINATED"
    assert result.answer.strip() if result.ok else result.error


def test_its_steps_are_what_the_model_wrote(result: PatternResult) -> None:
    """There is a step per reply, at most max_steps of them, and each holds the text of its reply."""
    assert 1 <= len(result.steps) == result.iterations <= 3
    assert [step.index for step in result.steps] == list(range(len(result.steps)))
    assert all(step.text and step.seconds > 0 for step in result.steps)


def test_its_usage_is_real(result: PatternResult) -> None:
    """Every reply took tokens; together they are the usage of the run, and each request was longer than the last."""
    usages = [step.usage for step in result.steps if step.usage is not None]
    assert len(usages) == len(result.steps)
    assert all(each.input_tokens > 0 and 0 < each.output_tokens <= 64 for each in usages)
    assert sum(usages, Usage()) == result.usage
    sizes = [each.input_tokens for each in usages]
    assert sizes == sorted(set(sizes))


def test_its_journal_replays_without_the_model(result: PatternResult) -> None:
    """Replayed from its journal, the run comes to the same result without asking anybody."""
    assert result.journal is not None
    unreachable = ChatCompletionsProvider("http://127.0.0.1:9/v1", "nobody", timeout=1)
    again = ReActAgent({"calculator": calculator}, unreachable, max_steps=3).resume(result.journal)
    assert (again.answer, again.ok, again.steps) == (result.answer, result.ok, result.steps)


@pytest.mark.parametrize("named_by", ["options", "environment"])
def test_the_command_line_runs_against_it(live_server: Any, named_by: str) -> None:
    """`brain run` prints the result as one JSON object, a line of progress per step, and exits with 0 or 1."""
    command = [sys.executable, "-m", "brain", "run", "react", TASK, "--tool", "calculator", "--max-steps", "2"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("BRAIN_")}
    if named_by == "options":
        command += ["--base-url", live_server.base_url, "--model", live_server.model]
    else:
        environment |= {"BRAIN_BASE_URL": live_server.base_url, "BRAIN_MODEL": live_server.model}
    done = subprocess.run(
        [*command, "--json"], cwd=ROOT, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=300
    )
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    said = json.loads(done.stdout)
    assert said["ok"] is (done.returncode == 0)
    assert 1 <= len(said["steps"]) == said["iterations"] <= 2
    assert said["usage"]["input_tokens"] > 0
    assert said["usage"]["output_tokens"] > 0
    assert sum(line.startswith("[") for line in done.stderr.splitlines()) == len(said["steps"])
