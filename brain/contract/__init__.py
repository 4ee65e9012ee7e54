"""Reasoning with its state in the open: the design-pattern contract, the plugin, and their adapters to policies."""

from brain.contract.adapters import as_contract, follow
from brain.contract.contract import DPAction, DPContract, DPPhase, DPState
from brain.contract.plugin import (
    Egress,
    EgressKind,
    GovernanceDenied,
    InterruptRequested,
    ModelReplied,
    PluginEvent,
    PluginRun,
    ReactPlugin,
    ResumeRequested,
    ToolFailed,
    ToolReturned,
    UserInputReceived,
    follow_plugin,
)

__all__ = [
    "DPAction",
    "DPContract",
    "DPPhase",
    "DPState",
    "Egress",
    "EgressKind",
    "GovernanceDenied",
    "InterruptRequested",
    "ModelReplied",
    "PluginEvent",
    "PluginRun",
    "ReactPlugin",
    "ResumeRequested",
    "ToolFailed",
    "ToolReturned",
    "UserInputReceived",
    "as_contract",
    "follow",
    "follow_plugin",
]
