"""Plan-and-Execute as a contract: the plan and the results are in the state, for anybody to see.

It makes the same run as the generator in ``brain.patterns.plan_and_execute``; tests compare them on random models.
The exchanges within a stage (a reply asked for again, an executor's own steps) are parts of that pattern; which stage
follows, and with what, is decided here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from brain.contract import DPAction, DPContract, DPPhase, DPState
from brain.contract.adapters import advanced
from brain.errors import BrainError
from brain.patterns.parts import one_line, write
from brain.patterns.plan_and_execute import _ANSWER, PlanAndExecute, _listed
from brain.policy import Note, Policy, note

__all__ = ["PlanAndExecuteContract"]

_PHASES = {"plan": DPPhase.PLAN, "execute": DPPhase.ACT, "replan": DPPhase.REFLECT, "answer": DPPhase.FINALIZE}


class PlanAndExecuteContract(DPContract):
    """Plan-and-Execute, with its state in the open.

    ``memory`` holds ``stage``, ``plan`` (the steps left), ``step`` (the one under way) and ``results``.

    Args:
        pattern: the settings; its provider and tools are those of ``ContractPattern``.
    """

    def __init__(self, pattern: PlanAndExecute) -> None:
        self._pattern = pattern
        self._part: Policy[Any] | None = None
        self._error: BrainError | None = None

    def __deepcopy__(self, memo: Any) -> PlanAndExecuteContract:
        return PlanAndExecuteContract(self._pattern)

    @property
    def dp_id(self) -> str:
        """The stable name of the pattern."""
        return "dp:plan-and-execute@v1"

    def start(self, context: dict[str, Any]) -> DPState:
        """Begin with the plan."""
        memory = {"task": context["task"], "stage": "plan", "plan": [], "step": "", "results": []}
        self._part = self._pattern._plan(context["task"])
        return DPState(DPPhase.PLAN, 0, memory)

    def opening(self, state: DPState) -> DPAction:
        """Ask for the plan."""
        return self._following(state, None)

    def next_action(self, state: DPState, input_data: Any) -> DPAction:
        """Go on within the stage, or with the next one."""
        error, self._error = self._error, None
        return self._following(state, input_data if error is None else error)

    def on_action_result(self, state: DPState, action: DPAction, result: Any) -> DPState:  # noqa: ARG002
        """A stage learns from its results itself."""
        return state

    def on_failure(self, state: DPState, action: DPAction, error: BrainError) -> DPState:  # noqa: ARG002
        """Some failures make a step fail and not the run: the stage knows which."""
        self._error = error
        return state

    def should_continue(self, state: DPState) -> bool:
        """Until the answer is written."""
        return bool(state.memory["stage"] != "done")

    def close(self) -> None:
        """Leave the stage under way."""
        if self._part is not None:
            self._part.close()

    def _following(self, state: DPState, data: Any) -> DPAction:
        notes: tuple[Note, ...] = ()
        while True:
            assert self._part is not None, "start() comes first"
            action, result, more = advanced(self.dp_id, self._part, data)
            if action is not None:
                state.current_phase, state.step_id = _PHASES[state.memory["stage"]], state.step_id + 1
                return replace(action, phase=state.current_phase, notes=notes + action.notes)
            notes += more
            if state.memory["stage"] == "answer":
                state.memory["stage"] = "done"
                return DPAction("finalize", DPPhase.FINALIZE, answer=result, notes=notes)
            self._part, data = self._next_stage(state.memory, result), None

    def _next_stage(self, memory: dict[str, Any], result: Any) -> Policy[Any]:
        """Take in what a stage came to, and begin the one that follows."""
        pattern, task, results = self._pattern, memory["task"], memory["results"]
        if memory["stage"] == "execute":
            said = f"{'' if result.ok else 'FAILED: '}{result.answer}"
            results.append(f"{len(results) + 1}. {one_line(memory['step'], 300)} -> {said}")
            if pattern.replan == "always" or (pattern.replan == "failure" and not result.ok):
                memory["stage"] = "replan"
                return pattern._replan(task, results, memory["plan"])
        else:
            memory["plan"] = result
        if memory["plan"] and len(results) < pattern.max_steps:
            memory["stage"] = "execute"
            memory["step"], *memory["plan"] = memory["plan"]
            return pattern._carry_out(task, memory["step"], results)
        memory["stage"] = "answer"
        return self._answer(task, results, memory["plan"])

    def _answer(self, task: str, results: list[str], plan: list[str]) -> Policy[str]:
        yield from note("stage", "answer")
        about = _ANSWER.format(task=task, results=_listed(results), left=_listed(plan))
        return (yield from write(self._pattern._request(about), "answer"))
