"""Pictures of graphs, as text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from brain.graph.state import END

if TYPE_CHECKING:
    from brain.graph.core import PromptGraph

__all__ = ["description", "mermaid"]


def mermaid(graph: PromptGraph, direction: str = "LR") -> str:
    """Draw a graph as a Mermaid diagram; a second arrow of a node's own, such as its tool loop, is drawn too."""
    lines = [f"graph {direction}"]
    shown = {name: node.title or name for name, node in graph.nodes.items()}
    for node in graph.nodes.values():
        shown |= node.inner_nodes()
    names = {END: "END"}
    for name in shown:
        names[name] = _identifier(name, names)
    lines += [f'    {names[name]}["{_escaped(title)}"]' for name, title in shown.items()]
    lines.append(f'    END["{END}"]')
    for name, node in graph.nodes.items():
        for source, target, label, dotted in node.inner_edges():
            lines.append(_arrow(names[source], names[target], label, dotted))
        leaves = names[node.exit]
        for route, target in node.routes.items():
            lines.append(_arrow(leaves, names[target], route, False))
        edges = graph.outgoing(name)
        lines += [_arrow(leaves, names[edge.target], edge.label, False) for edge in edges]
        if not edges and not node.routes:
            lines.append(_arrow(leaves, names[END], "", False))
    return "\n".join(lines)


def description(graph: PromptGraph) -> str:
    """Say a graph in lines of text."""
    lines = [f"{graph.name} ({graph.mode}), begins at {graph.start()}"]
    for name, node in graph.nodes.items():
        budget = "" if node.max_visits is None else f", at most {node.max_visits} visits, then {node.when_spent}"
        tools = f", tools: {', '.join(node.all_tools())}" if node.all_tools() else ""
        lines.append(f"  {name}: {type(node).__name__}{budget}{tools}")
        lines += [f"    -> {target} ({route})" for route, target in node.routes.items()]
        for edge in graph.outgoing(name):
            why = edge.label or ("always" if edge.condition is None else "when its condition holds")
            lines.append(f"    -> {edge.target} ({why})" + (f", priority {edge.priority}" if edge.priority else ""))
    return "\n".join(lines)


def _arrow(source: str, target: str, label: str, dotted: bool) -> str:
    arrow = "-.->" if dotted else "-->"
    return f"    {source} {arrow}|{_escaped(label)}| {target}" if label else f"    {source} {arrow} {target}"


def _identifier(name: str, taken: dict[str, str]) -> str:
    """Return a word that stands for a stage: none of Mermaid's own, and none that another stage has."""
    plain = re.sub(r"\W", "_", name)
    while plain.lower() in ("end", "graph", "subgraph", "style") or plain in taken.values():
        plain += "_"
    return plain


def _escaped(text: str) -> str:
    return text.replace('"', "#quot;").replace("|", "#124;").replace("\n", "<br/>")
