"""The stage patterns on a real model, its JSON constrained by schemas: each runs to its end, whatever it says."""

from __future__ import annotations

import pytest

from brain.agent import build_agent
from brain.providers import ChatCompletionsProvider
from tests.live.conftest import LiveServer


def depth(berth: str) -> str:
    """Tell the depth of a berth in metres."""
    return {"N1": "4.5", "N2": "7.2"}.get(berth.strip().upper(), "unknown")


@pytest.mark.parametrize("name", ["verify", "debate", "research", "peoatr", "deliberate", "autonomous"])
def test_a_pattern_runs_to_its_end(live_server: LiveServer, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An answer that the model wrote, or an error that says what it could not do; the path is shown."""
    provider = ChatCompletionsProvider(live_server.base_url, live_server.model, max_tokens=80, temperature=0)
    budgets = {
        "debate": {"max_rounds": 1, "max_proposer_steps": 3},
        "research": {"max_search_steps": 3, "max_verify_rounds": 1},
        "peoatr": {"max_act_steps": 3},
        "deliberate": {"max_act_steps": 3},
        "autonomous": {"max_steps": 3, "max_tool_rounds": 2},
    }
    agent = build_agent(name, model=provider, tools=[depth], instructions="Be very brief.", **budgets.get(name, {}))
    result = agent.run("Which of the berths N1 and N2 is deeper?")
    with capsys.disabled():
        print(f"\n   {name}: {' > '.join(result.path)}; {'answered' if result.ok else result.error}")
    assert result.state == "TERMINATED"
    assert result.path
    assert result.usage is not None
    assert result.usage.output_tokens > 0
    if result.ok:
        assert result.answer.strip()
    else:
        assert result.error
