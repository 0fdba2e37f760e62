"""Messages that point to their parents → the branch that the person saw last."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from datasets_app.domain.traces.records import NODE, OTHER_BRANCHES, Message, leave_out


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


def leave_out_branches(messages: list[Message]) -> list[Message]:
    """The messages; where one was edited or answered again, those of the other branches are left out."""
    nodes: dict[str, Node] = {}
    forks: Counter[tuple[str, str]] = Counter()
    messages = list(messages)
    for place, message in enumerate(messages):
        if found := (message.details or {}).get(NODE):
            name, parent, order = found
            nodes[name] = Node(name, parent, float(place) if order is None else order, place)
            forks[parent, message.role] += message.role in ("user", "assistant")
            details = {key: value for key, value in (message.details or {}).items() if key != NODE}
            messages[place] = message._replace(details=details or None)
    if not any(count > 1 for (parent, _), count in forks.items() if parent in nodes):
        return messages
    trees: dict[str, dict[str, Node]] = {}
    roots: dict[str, str] = {}
    for name, node in nodes.items():
        roots[name] = roots.get(node.parent) or _climb(nodes, name)[0].id
        trees.setdefault(roots[name], {})[name] = node
    kept = {node.value for tree in trees.values() for node in choose_branch(tree)}
    left = {node.value for node in nodes.values()} - kept
    return [leave_out(OTHER_BRANCHES) if place in left else message for place, message in enumerate(messages)]
