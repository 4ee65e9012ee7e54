"""ReAct in its two other forms: as a contract, with its state in the open, and as a plugin of the kernel API.

Both make the same requests, calls and record as the generator in ``brain.patterns.react``; tests compare them on
random models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from brain.contract import (
    DPAction,
    DPContract,
    DPPhase,
    DPState,
    Egress,
    EgressKind,
    GovernanceDenied,
    ModelReplied,
    PluginEvent,
    PluginRun,
    ReactPlugin,
    ToolFailed,
    ToolReturned,
    UserInputReceived,
)
from brain.messages import assistant, system, user
from brain.patterns.react import FORM, prompt_for, read
from brain.patterns.react_text import Parsed
from brain.policy import Note

__all__ = ["ReActContract", "ReActMachine"]

_EMPTY = "the model's reply was empty"
_SPENT = "max_steps reached without Final Answer"


class ReActContract(DPContract):
    """ReAct as a contract: ``memory`` holds the last reply and what was read in it.

    Args:
        max_steps: how many times the model may be asked.
        system_prompt: used instead of the default.
        require_final_answer: as for ``ReActAgent``.
    """

    def __init__(
        self, max_steps: int = 8, system_prompt: str | None = None, *, require_final_answer: bool = False
    ) -> None:
        self.max_steps, self.system_prompt, self.strict = max_steps, system_prompt, require_final_answer

    @property
    def dp_id(self) -> str:
        """The stable name of the pattern."""
        return "dp:react@v1"

    def start(self, context: dict[str, Any]) -> DPState:
        """Put the instructions before the task."""
        prompt = prompt_for(context["tools"], self.system_prompt)
        self.messages.insert(0, system(prompt, cache_stable=True))
        return DPState(DPPhase.DECIDE, 0, {"tools": context["tools"], "text": ""})

    def opening(self, state: DPState) -> DPAction:
        """Ask the model."""
        return self._asked(state)

    def next_action(self, state: DPState, input_data: Any) -> DPAction:
        """After a reply: act, answer, or say what is wrong with it. After an observation: ask again."""
        if state.current_phase is DPPhase.OBSERVE:
            return self._shown(state, str(input_data), ())
        text = state.memory["text"] = input_data.text.strip()
        if not text:
            return DPAction("finalize", DPPhase.FINALIZE, answer="", ok=False, error=_EMPTY)
        said: Parsed = read(input_data, state.memory["tools"], strict=self.strict)
        state.memory["kept"] = said.kept
        if said.outcome == "final":
            return DPAction("finalize", DPPhase.FINALIZE, answer=said.final, thought=said.thought)
        if said.outcome == "action":
            state.current_phase = DPPhase.ACT
            return DPAction("tool_call", tool=said.action, tool_input=said.action_input, thought=said.thought, label="")
        problem = f"{said.problem} {FORM}"
        return self._shown(state, problem, (Note("observation", problem, said.thought),))

    def on_action_result(self, state: DPState, action: DPAction, result: Any) -> DPState:  # noqa: ARG002
        """After a tool call there is something to show; after a reply, something to decide."""
        state.current_phase = DPPhase.OBSERVE if action.action_type == "tool_call" else DPPhase.DECIDE
        return state

    def on_tool_error(self, state: DPState, tool_name: str, error: str, available_tools: list[str]) -> DPState:  # noqa: ARG002
        """The model is shown what went wrong like any other observation."""
        state.current_phase = DPPhase.OBSERVE
        return state

    def should_continue(self, state: DPState) -> bool:  # noqa: ARG002
        """``next_action`` ends the run itself, since its last observation is still to be recorded."""
        return True

    def _shown(self, state: DPState, observation: str, notes: tuple[Note, ...]) -> DPAction:
        self.messages.extend([assistant(state.memory["kept"]), user(f"Observation: {observation}")])
        if state.step_id >= self.max_steps:
            return DPAction(
                "finalize", DPPhase.FINALIZE, answer=state.memory["text"], ok=False, error=_SPENT, notes=notes
            )
        return replace(self._asked(state), notes=notes)

    def _asked(self, state: DPState) -> DPAction:
        state.current_phase, state.step_id = DPPhase.DECIDE, state.step_id + 1
        return DPAction("llm_call", DPPhase.DECIDE, label="")


@dataclass(frozen=True)
class _Q:
    """The state of ReAct as a machine: what is scheduled, and how often the model was asked."""

    scheduled: Egress
    asked: int = 0
    kept: str = ""
    text: str = ""


class ReActMachine(ReactPlugin):
    """ReAct as a plugin; ``config`` may hold ``max_steps`` and ``system_prompt``.

    Unlike the generator, it leaves no remark in the record where a reply could not be used: the kernel API has no
    egress for one. The conversation is the same.
    """

    @property
    def plugin_id(self) -> str:
        """The stable name of the plugin."""
        return "plugin:react@v1"

    def handle_event(self, q: Any, run: PluginRun, event: PluginEvent, config: Mapping[str, Any]) -> Any:
        """Read what has come, and schedule what follows."""
        if isinstance(event, UserInputReceived):
            prompt = prompt_for(run.tools, config.get("system_prompt"))
            run.messages.insert(0, system(prompt, cache_stable=True))
            return _Q(Egress(EgressKind.LLM_CALL), 1)
        if isinstance(event, ModelReplied):
            return self._read(q, run, event, config)
        if isinstance(event, ToolReturned | ToolFailed):
            return self._shown(q, run, str(event.observation), config)
        if isinstance(event, GovernanceDenied):
            return replace(q, scheduled=Egress(EgressKind.CLIENT_RESPONSE, ok=False, error=event.reason))
        return q

    def evaluate_next(self, q: Any, run: PluginRun, config: Mapping[str, Any]) -> Egress:  # noqa: ARG002
        """Return what is scheduled."""
        scheduled: Egress = q.scheduled
        return scheduled

    def _read(self, q: _Q, run: PluginRun, event: ModelReplied, config: Mapping[str, Any]) -> _Q:
        text = event.reply.text.strip()
        if not text:
            return replace(q, scheduled=Egress(EgressKind.CLIENT_RESPONSE, ok=False, error=_EMPTY))
        said = read(event.reply, run.tools)
        q = replace(q, kept=said.kept, text=text)
        if said.outcome == "final":
            return replace(q, scheduled=Egress(EgressKind.CLIENT_RESPONSE, answer=said.final, thought=said.thought))
        if said.outcome == "action":
            call = Egress(EgressKind.TOOL_CALL, said.action, said.action_input, thought=said.thought)
            return replace(q, scheduled=call)
        return self._shown(q, run, f"{said.problem} {FORM}", config)

    def _shown(self, q: _Q, run: PluginRun, observation: str, config: Mapping[str, Any]) -> _Q:
        run.messages += [assistant(q.kept), user(f"Observation: {observation}")]
        if q.asked >= config.get("max_steps", 8):
            return replace(q, scheduled=Egress(EgressKind.CLIENT_RESPONSE, answer=q.text, ok=False, error=_SPENT))
        return replace(q, scheduled=Egress(EgressKind.LLM_CALL), asked=q.asked + 1)
