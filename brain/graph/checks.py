"""What must hold of a graph before it runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from brain.graph.state import END

if TYPE_CHECKING:
    from brain.graph.core import PromptGraph
    from brain.graph.nodes import Node

__all__ = ["clashing_tools", "problems"]


def problems(graph: PromptGraph) -> list[str]:
    """Return what is wrong with a graph, each problem in words."""
    if not graph.nodes:
        return ["it has no stages"]
    found = [f"the entry {graph.entry!r} is no stage"] if graph.start() not in graph.nodes else []
    found += _unknown_names(graph)
    if found:
        return found
    ways = {name: _targets(graph, name) for name in graph.nodes}
    reached = _closure(ways, graph.start())
    found += [f"stage {name!r} cannot be reached" for name in graph.nodes if name not in reached]
    ending = {END}
    for _ in ways:
        ending |= {name for name, targets in ways.items() if targets & ending}
    found += [f"there is no way from stage {name!r} to the end" for name in graph.nodes if name not in ending]
    return found + _circles(graph) + clashing_tools(graph.nodes.values())


def _targets(graph: PromptGraph, name: str) -> set[str]:
    node, edges = graph.nodes[name], graph.outgoing(name)
    targets = {edge.target for edge in edges} | set(node.routes.values())
    if node.when_spent is not None:
        targets.add(node.when_spent)
    if not edges and not node.routes:
        targets.add(END)
    if graph.mode == "dynamic":
        targets |= {*graph.nodes, END}
    return targets


def _unknown_names(graph: PromptGraph) -> list[str]:
    known = {*graph.nodes, END}
    found = []
    for edge in graph.edges:
        if edge.source not in graph.nodes:
            found.append(f"the edge {edge.source} -> {edge.target} leaves an unknown stage")
        if edge.target not in known:
            found.append(f"the edge {edge.source} -> {edge.target} leads to an unknown stage")
    for name, node in graph.nodes.items():
        found += [
            f"route {route!r} of stage {name!r} leads to the unknown stage {target!r}"
            for route, target in node.routes.items()
            if target not in known
        ]
        if node.when_spent is not None and node.when_spent not in known:
            found.append(f"stage {name!r} hands over to the unknown stage {node.when_spent!r}")
    return found


def _closure(ways: dict[str, set[str]], start: str) -> set[str]:
    reached, waiting = {start}, [start]
    while waiting:
        new = ways.get(waiting.pop(), set()) - reached
        reached |= new
        waiting += new
    return reached


def _circles(graph: PromptGraph) -> list[str]:
    """Stages that hand over to each other in a circle would go round for ever once all are spent."""
    for name in graph.nodes:
        seen, current = [name], graph.nodes[name].when_spent
        while current is not None and current in graph.nodes and current not in seen:
            seen.append(current)
            current = graph.nodes[current].when_spent
        if current == name:
            return ["stages hand over to each other in a circle: " + " -> ".join([*seen, name])]
    return []


def clashing_tools(nodes: Iterable[Node]) -> list[str]:
    """Return what is wrong with the tools of stages that one run calls by name."""
    owners: dict[str, tuple[str, Any]] = {}
    found = []
    for node in nodes:
        for name, tool in node.all_tools().items():
            owner, known = owners.setdefault(name, (node.name, tool))
            if known is not tool and known != tool:
                found.append(f"stages {owner!r} and {node.name!r} have different tools called {name!r}")
    return found
