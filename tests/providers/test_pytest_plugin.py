from __future__ import annotations

import ast
import os
from pathlib import Path

import brain.pytest_plugin

pytest_plugins = ["pytester"]

TESTS = """
import socket
import pytest
from brain.providers import ChatCompletionsProvider, LocalEchoProvider
from brain.errors import ProviderError

HI = [{"role": "user", "content": "hi"}]

def test_scripted(scripted_provider):
    assert scripted_provider(["a"]).generate(HI).text == "a"

def test_cassette(cassette):
    assert cassette(LocalEchoProvider()).generate(HI).text == "hi"
    assert cassette(LocalEchoProvider(), name="second one").generate(HI).text == "hi"

def test_guarded(no_network):
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()

def test_caught(no_network):
    try:
        ChatCompletionsProvider("https://far.example.test", "m").generate(HI)
    except ProviderError:
        pass

def test_caught_by_number(no_network):
    with socket.socket() as each:
        each.connect(("192.0.2.1", 9))
"""

LEFT_OVER = """
HI = [{"role": "user", "content": "hi"}]

def test_cassette(cassette):
    cassette()
"""


def test_the_fixtures(pytester, monkeypatch):
    """A script, a cassette that is recorded once and replayed then, and no way out of this machine."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(Path(brain.__file__).parents[1]), prepend=os.pathsep)
    plugin = ("-p", "brain.pytest_plugin", "-p", "no:cacheprovider")
    pytester.makepyfile(test_it=TESTS)
    missing = pytester.runpytest_subprocess(*plugin, "-k", "test_cassette")
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines(["*there is no cassette*test_cassette.jsonl; run once with --brain-record=once*"])
    recorded = pytester.runpytest_subprocess(*plugin, "--brain-record=once")
    recorded.assert_outcomes(passed=3, failed=2)
    recorded.stdout.fnmatch_lines(["*looked up far.example.test*", "*reached for 192.0.2.1:9*"])
    files = sorted(each.name for each in Path(pytester.path, "cassettes", "test_it").iterdir())
    assert files == ["test_cassette--second_one.jsonl", "test_cassette.jsonl"]
    pytester.runpytest_subprocess(*plugin, "-k", "test_cassette").assert_outcomes(passed=1)
    pytester.makepyfile(test_it=LEFT_OVER)
    left = pytester.runpytest_subprocess(*plugin)
    left.assert_outcomes(passed=1, errors=1)
    left.stdout.fnmatch_lines(["*1 recorded replies were not asked for*"])


def test_the_plugin_imports_nothing_of_the_library():
    """At module level, so that a coverage measurement that starts after it misses nothing."""
    tree = ast.parse(Path(brain.pytest_plugin.__file__).read_text())
    named = [each for each in tree.body if isinstance(each, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(each) for each in named if "brain" in ast.unparse(each)] == []
