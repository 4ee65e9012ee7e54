"""ReAct as a plain loop: what the published page of ``ReActAgent`` says, written out by hand.

Nothing here is shared with the library, and nothing here is clever: labels are looked for line by line.
It covers conversations in the plain form of the page; what the library does beyond it has its own tests.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

SYSTEM_PROMPT = "Use these tools: {tool_names}. Think, act, answer."


@dataclass
class PlainStep:
    index: int
    thought: str
    action: str | None
    action_input: str | None
    text: str
    observation: str = ""


@dataclass
class PlainResult:
    answer: str
    steps: list[PlainStep]
    iterations: int
    ok: bool = True
    error: str | None = None
    requests: list[list[dict[str, Any]]] = field(default_factory=list)


def read(text: str) -> tuple[str, str | None, str, str | None]:
    """Return thought, action, action input and final answer of a reply in the plain form."""
    values: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.split("\n"):
        for label in ("Thought:", "Action Input:", "Action:", "Final Answer:"):
            if line.startswith(label):
                current = values.setdefault(label, [])
                current.append(line[len(label) :])
                break
        else:
            if current is not None:
                current.append(line)
    said = {label: "\n".join(lines).strip() for label, lines in values.items()}
    return said.get("Thought:", ""), said.get("Action:"), said.get("Action Input:", ""), said.get("Final Answer:")


def run(tools: dict[str, Any], generate: Any, task: str, max_steps: int, system_prompt: str) -> PlainResult:
    """Carry out a task as the page says."""
    tool_names = ", ".join(tools) if tools else "none"
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": system_prompt.replace("{tool_names}", tool_names), "cache_stable": True},
        {"role": "user", "content": task},
    ]
    steps: list[PlainStep] = []
    requests: list[list[dict[str, Any]]] = []
    for index in range(max_steps):
        requests.append([dict(message) for message in messages])
        try:
            reply = generate(messages)
        except Exception as error:
            return PlainResult("", steps, index, False, str(error), requests)
        text = reply.strip()
        thought, action, action_input, final = read(text)
        step = PlainStep(index, thought, None, None, text)
        steps.append(step)
        if final is not None:
            return PlainResult(final, steps, index + 1, requests=requests)
        if not action:
            return PlainResult(text, steps, index + 1, requests=requests)
        step.action, step.action_input = action, action_input
        if action in tools:
            try:
                step.observation = str(tools[action](action_input))
            except Exception as error:
                step.observation = f"Tool error: {error}"
        else:
            step.observation = f"Unknown tool '{action}'. Available: {tool_names}"
        messages.append({"role": "assistant", "content": text})
        messages.append({"role": "user", "content": f"Observation: {step.observation}"})
    last = steps[-1].text if steps else ""
    return PlainResult(last, steps, max_steps, False, "max_steps reached without Final Answer", requests)
