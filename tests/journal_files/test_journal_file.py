"""Journal files: written ahead, taken up, torn, masked, refused."""

from __future__ import annotations

import json
import os
import random
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from brain.errors import ConfigurationError, Interrupt, ReplayMismatch
from brain.patterns import BasePattern, CodeAction, Debate, ReActAgent
from brain.policy import Act, Ask, Finish, Policy, act, together
from brain.redact import MASK, Redaction
from brain.runtime import ApprovalGate, Approve, Hook, Journal, JournalFile, Limits, read_journal
from brain.testing import ScriptedProvider
from brain.tools import Tool
from brain.types import Observation, Reply

LOOK = "Action: look\nAction Input: a"
DONE = "Final Answer: done"


def looker(*replies: Any, **tools: Any) -> ReActAgent:
    return ReActAgent(tools or {"look": str.upper}, ScriptedProvider(replies or [LOOK, DONE]))


def kinds(path: Path) -> list[str]:
    """Name the lines of a file."""
    said = [json.loads(line) for line in path.read_text().splitlines()]
    return [
        next(key for key in ("brain_journal", "begin", "within", "asks", "over", "i") if key in one) for one in said
    ]


def test_an_action_is_noted_before_it_is_performed_and_its_entry_is_there_before_the_policy_goes_on(
    tmp_path: Path,
) -> None:
    """What the file holds at each moment of a run."""
    path, seen = tmp_path / "run.jsonl", []

    def look(text: str) -> str:
        seen.append(kinds(path))
        return "X"

    def model(messages: Any, **_: Any) -> str:
        seen.append(kinds(path))
        return DONE if len(messages) > 2 else LOOK

    assert ReActAgent({"look": look}, ScriptedProvider(model)).run("t", journal=path).ok
    head = ["brain_journal", "begin"]
    assert seen == [head, [*head, "i", "begin"], [*head, "i", "begin", "i", "begin"]]
    assert kinds(path) == [*head, "i", "begin", "i", "begin", "i", "over"]
    assert [entry.digest for entry in read_journal(path)] == [
        entry.digest for entry in looker(look=lambda text: "X").run("t").journal or ()
    ]


def test_a_file_that_is_there_is_never_replaced(tmp_path: Path) -> None:
    """It may be the only record of another run."""
    path = tmp_path / "run.jsonl"
    path.write_text("precious")
    with pytest.raises(ConfigurationError, match="is there already; resume that run, or choose another name"):
        looker().run("t", journal=path)
    assert path.read_text() == "precious"


@pytest.mark.skipif(os.name != "posix", reason="permissions and locks are of POSIX")
def test_a_file_is_its_owner_s_and_one_run_s_at_a_time(tmp_path: Path) -> None:
    """A second process, or thread, that would go on with the same run is refused."""
    path = tmp_path / "run.jsonl"
    events = looker().stream("t", journal=path)
    next(events)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(ConfigurationError, match="is being written by another run"):
        looker().resume(path)
    events.close()  # type: ignore[attr-defined]
    assert looker().resume(path).ok


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_torn_last_line_is_cut_off_and_the_run_goes_on(tmp_path: Path, cut: int) -> None:
    """Whatever part of a line a crash has left."""
    path = tmp_path / "run.jsonl"
    whole = looker().run("t", journal=path)
    entry = path.read_bytes().splitlines(keepends=True)[:5]  # header, begin, entry, begin, entry of the tool
    torn = entry[-1][: len(entry[-1]) * cut // 12]
    path.write_bytes(b"".join(entry[:4]) + torn)
    again = looker(DONE, look=Tool("look", str.upper, idempotent=True)).resume(path)
    assert (again.ok, again.answer) == (True, "done")
    assert [each.digest for each in read_journal(path)] == [each.digest for each in whole.journal or ()]


def test_a_file_that_is_damaged_before_its_end_is_refused(tmp_path: Path) -> None:
    """The line is named, and the file stays as it is."""
    path = tmp_path / "run.jsonl"
    looker().run("t", journal=path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], "{", *lines[2:]]) + "\n")
    before = path.read_bytes()
    with pytest.raises(ConfigurationError, match="line 2 of the journal cannot be read"):
        looker().resume(path)
    assert path.read_bytes() == before
    for said in ("", "\n", "[]\n", '{"brain_journal": 99}\n'):
        path.write_text(said)
        with pytest.raises(ConfigurationError, match=r"journal"):
            looker().resume(path)
    with pytest.raises(FileNotFoundError):
        looker().resume(tmp_path / "nothing")


class CtrlC(Hook):
    """Presses Ctrl-C before an action."""

    def __init__(self, count: int) -> None:
        self.left = count

    def pre_llm_call(self, action: Ask) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt

    def pre_tool_call(self, action: Act) -> None:
        self.pre_llm_call(action)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", range(5))
def test_ctrl_c_between_actions_loses_nothing(tmp_path: Path, count: int) -> None:
    """The partial result is on the exception; resumed from the file, nothing is done twice."""
    path, given = tmp_path / "run.jsonl", []
    replies = [LOOK, "Action: look\nAction Input: b", DONE]
    model = ScriptedProvider(replies)
    agent = ReActAgent({"look": given.append}, model)
    with pytest.raises(KeyboardInterrupt) as stop:
        agent.run("t", journal=path, hooks=[CtrlC(count)])
    assert len(stop.value.partial_result.journal) == count  # type: ignore[attr-defined]
    result = agent.resume(path)
    assert (result.ok, given, len(model.requests)) == (True, ["a", "b"], 3)


def test_ctrl_c_in_the_provider_or_in_a_tool(tmp_path: Path) -> None:
    """The model is asked again; a tool that was under way only after a question, unless it is idempotent."""
    path = tmp_path / "provider.jsonl"
    with pytest.raises(KeyboardInterrupt) as stop:
        looker(LOOK, KeyboardInterrupt()).run("t", journal=path)
    assert len(stop.value.partial_result.steps) == 1  # type: ignore[attr-defined]
    assert looker(DONE).resume(path).answer == "done"

    def stopped(text: str) -> str:
        raise KeyboardInterrupt

    path = tmp_path / "tool.jsonl"
    with pytest.raises(KeyboardInterrupt) as stop:
        looker(LOOK, look=stopped).run("t", journal=path)
    half = looker(DONE).resume(path)
    assert (half.state, half.ok) == ("INTERRUPTED", False)
    assert "act look('a') was begun and its outcome was not recorded" in (half.error or "")
    for given in (path, stop.value.partial_result.journal):  # type: ignore[attr-defined]
        whole = looker(DONE).resume(given, approve=Observation("it had worked"))
        assert (whole.ok, whole.steps[0].observation) == (True, "it had worked")
    journal = stop.value.partial_result.journal  # type: ignore[attr-defined]
    assert looker(DONE).resume(journal, approve=True).steps[0].observation == "A"
    assert looker(DONE, look=Tool("look", str.upper, idempotent=True)).resume(journal).ok


def test_a_program_that_was_under_way_starts_anew_and_its_calls_are_answered_from_the_file(tmp_path: Path) -> None:
    """A crash in its second call: the first is not made again, the second only after a question."""
    path, ran = tmp_path / "run.jsonl", []
    program = "```python\na = put(text='a')\nb = put(text='b')\nfinal_answer(a + b)\n```"

    def put(text: str) -> str:
        """Put a text."""
        if text == "b" and ran == ["a"]:
            ran.append("b, half")
            raise KeyboardInterrupt
        ran.append(text)
        return text.upper()

    agent = CodeAction({"put": put}, ScriptedProvider([program]))
    with pytest.raises(KeyboardInterrupt):
        agent.run("t", journal=path)
    half = agent.resume(path)
    assert (half.state, ran) == ("INTERRUPTED", ["a", "b, half"])
    whole = agent.resume(path, approve=True)
    assert (whole.ok, whole.answer, ran) == (True, "AB", ["a", "b, half", "b"])
    assert agent.replay(path).answer == "AB"


@pytest.mark.parametrize("on_disk", [True, False])
def test_each_call_of_a_batch_that_was_under_way_is_asked_about(tmp_path: Path, on_disk: bool) -> None:
    """One after the other, however often the run is taken up in between."""
    path, ran = tmp_path / "run.jsonl", []

    both = threading.Barrier(2, timeout=20)

    def put(text: str) -> str:
        if not ready:
            both.wait()  # each of them is under way
            raise KeyboardInterrupt
        ran.append(text)
        return text

    def one(text: str) -> Policy[str]:
        return str((yield from act("put", text)))

    class Both(BasePattern):
        def policy(self, task: str) -> Policy[Finish]:
            return Finish("".join((yield from together(one("a"), one("b")))))

    ready, pattern = False, Both({"put": put}, ScriptedProvider([]))
    with pytest.raises(KeyboardInterrupt) as stop:
        pattern.run("t", journal=path if on_disk else None, max_workers=2)
    ready, journal = True, stop.value.partial_result.journal  # type: ignore[attr-defined]
    for workers, decision, expected in ((1, None, []), (1, True, ["a"]), (2, None, ["a"]), (2, True, ["a", "b"])):
        options = {} if decision is None else {"approve": decision}
        result = pattern.resume(path if on_disk else journal, max_workers=workers, **options)
        journal = result.journal
        assert ran == expected
    assert (result.ok, result.answer) == (True, "ab")


SECRETS = ["abc.def.ghi", "qx-key-123456789", "hunter22"]
LOGIN = {
    "url": "https://example.test",
    "headers": {"Authorization": "Bearer abc.def.ghi"},
    "api_key": "qx-key-123456789",
    "password": "hunter22",
}


def test_secrets_are_not_in_the_file_and_the_run_can_be_taken_up_from_it(tmp_path: Path) -> None:
    """What the model wrote, what tools were given and returned: masked; entries still fit the policy."""
    path = tmp_path / "run.jsonl"
    call = f"Action: login\nAction Input: {json.dumps(LOGIN)}"
    tools = {"login": lambda given: LOGIN, "look": str.upper}
    agent = ReActAgent(tools, ScriptedProvider([call, LOOK, DONE]))

    class Stops(Hook):
        def pre_tool_call(self, action: Act) -> None:
            if action.tool == "look":
                raise Interrupt

    half = agent.run("t", journal=path, hooks=[Stops()])
    assert half.state == "INTERRUPTED"
    said = path.read_text()
    assert [secret for secret in SECRETS if secret in said] == []
    assert "https://example.test" in said
    whole = agent.resume(path)
    assert (whole.ok, whole.answer) == (True, "done")
    assert agent.replay(path).answer == "done"
    said = path.read_text()
    assert [secret for secret in SECRETS if secret in said] == []


def test_a_call_whose_arguments_were_masked_is_not_made_with_the_mask(tmp_path: Path) -> None:
    """It stops, and the arguments can be given anew."""
    path, given = tmp_path / "run.jsonl", []
    call = 'Action: login\nAction Input: {"password": "hunter22"}'
    agent = ReActAgent({"login": given.append}, ScriptedProvider([call, DONE]))
    gate = ApprovalGate(tools=["login"])
    assert agent.run("t", journal=path, hooks=[gate]).state == "INTERRUPTED"
    half = agent.resume(path)
    assert (half.state, given) == ("INTERRUPTED", [])
    assert "were masked in the journal file" in (half.error or "")
    whole = agent.resume(path, approve=Approve('{"password": "hunter22"}'))
    assert (whole.ok, given) == (True, ['{"password": "hunter22"}'])
    assert "hunter22" not in path.read_text()


def test_a_task_and_keys_of_one_s_own_are_masked_too(tmp_path: Path) -> None:
    """``JournalFile(path, Redaction(...))`` masks further names and texts."""
    path = tmp_path / "run.jsonl"
    redact = Redaction(keys=["badge"], secrets=["KELPIE"])
    file = JournalFile(path, redact)
    agent = looker('Action: look\nAction Input: {"badge": "b-77"}', DONE)
    agent.run("find KELPIE with password=hunter22", journal=file)
    said = path.read_text()
    assert [each for each in ("KELPIE", "b-77", "hunter22") if each in said] == []
    assert agent.replay(path).answer == "done"


def test_values_that_json_cannot_hold_come_back_or_say_that_they_are_lost(tmp_path: Path) -> None:
    """Tuples, sets, bytes, odd floats and keys without loss; other objects as ``Lost``."""
    path = tmp_path / "run.jsonl"
    value = {("a", 1): {2, 3}, None: b"x", 3: (1, float("inf")), "s": "x\ud83d"}
    result = looker(look=lambda text: value).run("t", journal=path)
    assert result.ok
    seen = next(entry.outcome for entry in read_journal(path) if isinstance(entry.action, Act))
    assert isinstance(seen, Observation)
    assert seen.value == value
    other = tmp_path / "lost.jsonl"
    looker(look=lambda text: object()).run("t", journal=other)
    lost = next(entry.outcome for entry in read_journal(other) if isinstance(entry.action, Act))
    assert isinstance(lost, Observation)
    assert (type(lost.value).__name__, lost.value.type) == ("Lost", "object")


def test_replay_asks_nobody_and_stops_where_the_journal_ends(tmp_path: Path) -> None:
    """A whole journal gives the result; half of one, what was done so far."""
    path = tmp_path / "run.jsonl"
    whole = looker().run("t", journal=path)
    nobody = ReActAgent({"look": lambda text: 1 / 0}, ScriptedProvider([]))
    assert nobody.replay(path).answer == "done"
    before = path.read_bytes()
    assert whole.journal is not None
    half = nobody.replay(whole.journal.until(2))
    assert (half.state, half.error) == (
        "INTERRUPTED",
        "ReActAgent: the journal ends before: ask with 4 messages, the last 'Observation: A'",
    )
    assert path.read_bytes() == before


def test_fork_goes_on_from_an_entry_with_another_outcome(tmp_path: Path) -> None:
    """What-if: the entries before it are kept, what follows is asked anew; the journal stays as it is."""
    path = tmp_path / "run.jsonl"
    looker().run("t", journal=path)
    other = looker("Final Answer: other").fork(path, at=1, outcome="B", journal=tmp_path / "fork.jsonl")
    assert (other.answer, other.steps[0].observation) == ("other", "B")
    assert read_journal(path)[1].outcome != read_journal(tmp_path / "fork.jsonl")[1].outcome
    assert looker().fork(path, at=2, outcome=Reply("Final Answer: at once")).answer == "at once"
    assert looker().fork(path, at=0, outcome="Final Answer: sooner").answer == "sooner"
    for at, outcome, said in (
        (9, "x", "entry 9 is not a call"),
        (-1, "x", "entry -1 is not a call"),
        (1, Reply("x"), "Reply is no outcome of that"),
        (0, 3, "int is no outcome of that"),
    ):
        with pytest.raises(ConfigurationError, match=said):
            looker().fork(path, at=at, outcome=outcome)


def test_a_pattern_that_has_changed_is_told_with_both_actions(tmp_path: Path) -> None:
    """What the journal has, and what the policy asks now."""
    path = tmp_path / "run.jsonl"
    looker().run("t", journal=path)
    with pytest.raises(ReplayMismatch) as error:
        looker(whisper=str.lower).replay(path)
    assert error.value.index == 0
    assert "recorded: ask with 2 messages" in str(error.value)
    assert "asked:    ask with 2 messages" in str(error.value)
    with pytest.raises(ConfigurationError, match="this journal is of a run of ReActAgent"):
        Debate(provider=ScriptedProvider([])).resume(path)
    assert looker(DONE).replay(path).ok, "the file was left open or damaged"


def test_limits_count_what_was_done_before(tmp_path: Path) -> None:
    """A resumed run does not begin with a fresh budget."""
    path = tmp_path / "run.jsonl"
    agent = looker(LOOK, LOOK, LOOK, DONE)
    with pytest.raises(KeyboardInterrupt):
        agent.run("t", journal=path, hooks=[CtrlC(3)])
    result = agent.resume(path, hooks=[Limits(model_calls=2)])
    assert (result.ok, getattr(result.exception, "limit", "")) == (False, "model_calls")


def test_the_mask_is_one_that_masking_leaves_alone() -> None:
    """Masking twice is masking once."""
    redact = Redaction()
    for text in (json.dumps(LOGIN), f"Action Input: {json.dumps(json.dumps(LOGIN))}", "password=x1234", str(LOGIN)):
        once = redact.text(text)
        assert MASK in once
        assert redact.text(once) == once
        assert not [secret for secret in SECRETS if secret in once]


def test_a_file_that_somebody_has_changed_is_refused_or_read_and_never_breaks_the_reader(tmp_path: Path) -> None:
    """Two thousand random changes of a journal: a configuration error, a mismatch, or a result."""
    path, dice = tmp_path / "run.jsonl", random.Random(6)
    looker().run("t", journal=path)
    lines = path.read_text().splitlines()
    odd = [None, 3, -1, "x", [], {}, {"$dict": 3}, {"$datetime": "q"}, {"$bytes": 5}, True, 1e9, {"$lost": 1}, "1.0"]

    def changed(value: Any) -> Any:
        if isinstance(value, dict) and value and dice.random() < 0.7:
            key = dice.choice(list(value))
            rest = {each: inner for each, inner in value.items() if each != key}
            return rest if dice.random() < 0.3 else {**value, key: changed(value[key])}
        if isinstance(value, list) and value and dice.random() < 0.7:
            place = dice.randrange(len(value))
            return [*value[:place], changed(value[place]), *value[place + 1 :]]
        return dice.choice(odd)

    for number in range(2000):
        told = list(lines)
        place = dice.randrange(len(told))
        told[place] = json.dumps(changed(json.loads(told[place])))
        try:
            journal = Journal.from_lines(told)
        except ConfigurationError:
            continue
        assert list(journal.to_lines()), f"change {number}"
