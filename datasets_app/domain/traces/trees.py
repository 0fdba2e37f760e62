"""Messages that point to their parents → the branch that the person saw last."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Node(NamedTuple):
    """``order`` sorts siblings: the time of the message, or its place in the file."""

    id: str
    parent: str
    order: float
    value: Any


def choose_branch(nodes: Mapping[str, Node], current: str = "") -> list[Node]:
    """From the current node up to its root, else from the leaf of the longest branch, the newest of
    several."""
    if current in nodes:
        return _climb(nodes, current)
    parents = {node.parent for node in nodes.values()}
    leaves = [node for node in nodes.values() if node.id not in parents] or list(nodes.values())[-1:]
    branches = [
        (len(path := _climb(nodes, leaf.id)), leaf.order, number, path) for number, leaf in enumerate(leaves)
    ]
    return max(branches, key=lambda branch: branch[:3])[3] if branches else []


def _climb(nodes: Mapping[str, Node], name: str) -> list[Node]:
    path: list[Node] = []
    seen: set[str] = set()
    while name in nodes and name not in seen:
        seen.add(name)
        path.append(nodes[name])
        name = nodes[name].parent
    return path[::-1]
