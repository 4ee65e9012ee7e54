from __future__ import annotations

import pytest

from brain.errors import ConfigurationError
from brain.patterns import ReActAgent
from brain.providers import Price, cost, estimate_tokens, tally
from brain.testing import ScriptedProvider
from brain.types import Reply, Usage

PRICES = {"m": Price(2.0, 8.0), "c": {"input": 2.0, "output": 8.0, "cached_input": 0.5, "cache_write": 2.5}}


def test_the_cost_of_a_call():
    """Input, output, and what the cache makes cheaper or dearer."""
    usage = Usage(1_000_000, 500_000, cache_read=400_000, cache_write=100_000, reasoning=300_000)
    assert cost(usage, "m", PRICES) == 2.0 + 4.0
    assert cost(usage, "c", PRICES) == pytest.approx(0.5 * 2 + 0.4 * 0.5 + 0.1 * 2.5 + 4.0)
    assert cost(Usage(100, 0, cache_read=500), "c", PRICES) == pytest.approx(100 * 0.5 / 1e6)
    assert cost(Usage(), "m", PRICES) == 0.0
    assert cost(Usage(5, 5), "free", {"free": Price(0, 0)}) == 0.0


def test_what_is_not_known_costs_none():
    """Never 0: an unknown model, unknown tokens."""
    assert cost(Usage(1, 1), "other", PRICES) is None
    assert cost(Usage(1, 1), "m-mini", PRICES) is None
    assert cost(Usage(1, 1), "", PRICES) is None
    assert cost(None, "m", PRICES) is None


@pytest.mark.parametrize("model", ["m-2026-08-07", "m-20260807", "m@20260807"])
def test_a_dated_model_costs_what_the_model_costs(model):
    """Unless it has a price of its own."""
    assert cost(Usage(1_000_000, 0), model, PRICES) == 2.0
    assert cost(Usage(1_000_000, 0), model, {**PRICES, model: Price(1, 1)}) == 1.0


def test_a_bill():
    """Adds up what is known and says what is not."""
    calls = [("m", Usage(1_000_000, 0)), ("m", None), ("x", Usage(1, 1)), ("x", Usage(1, 1))]
    bill = tally(calls, PRICES)
    assert bill.usage == Usage(1_000_002, 2)
    assert (bill.cost, bill.known_cost, bill.complete, bill.unpriced) == (None, 2.0, False, ("x",))
    bill = tally(calls[:1] * 2, PRICES)
    assert (bill.cost, bill.known_cost, bill.complete, bill.unpriced) == (4.0, 4.0, True, ())
    assert tally([("m", None)], PRICES).cost is None
    assert tally([], PRICES).cost == 0.0


def test_the_bill_of_a_run():
    """Every model call of the journal counts, whatever model replied."""
    script = [
        Reply("Action: f\nAction Input: x", usage=Usage(1_000_000, 0), model="m"),
        Reply("Final Answer: y", usage=Usage(0, 1_000_000), model="c"),
    ]
    result = ReActAgent({"f": str}, ScriptedProvider(script)).run("t")
    assert tally(result, PRICES).cost == 10.0
    assert tally([Reply("x", usage=Usage(1, 1), model="m"), Reply("y", model="m")], PRICES).complete is False


@pytest.mark.parametrize(
    "price",
    [
        {"input": 1},
        {"input": 1, "output": 1, "outputs": 1},
        {"input": -1, "output": 1},
        {"input": float("nan"), "output": 1},
        {"input": "1", "output": 1},
        {"input": 1, "output": None},
    ],
)
def test_a_price_that_is_none(price):
    """Is an error, not a cheap run."""
    with pytest.raises(ConfigurationError):
        cost(Usage(1, 1), "m", {"m": price})


def test_an_estimate():
    """About four bytes a token; no text is no tokens."""
    assert [estimate_tokens(each) for each in (None, "", "abc", "abcde", "äö", "\ud800")] == [0, 0, 1, 2, 1, 1]
