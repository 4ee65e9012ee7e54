"""Testing as API: fakes, scripts, and the suite that every pattern passes."""

from brain.testing.lines import calls, fails, returns, says
from brain.testing.play import ScriptMismatch, Talk, play
from brain.testing.scripted import Request, ScriptedProvider, ScriptExhausted

__all__ = [
    "Request",
    "ScriptExhausted",
    "ScriptMismatch",
    "ScriptedProvider",
    "Talk",
    "calls",
    "fails",
    "play",
    "returns",
    "says",
]
