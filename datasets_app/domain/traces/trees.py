"""Messages that point to their parents → the branch that the person saw last."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.records import NODE, Message, leave_out


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
    ranks = _rank_leaves(nodes, _measure_depths(nodes)[0])
    return _climb(nodes, max(ranks, key=lambda name: ranks[name])) if ranks else []


def _rank_leaves(nodes: Mapping[str, Node], depths: Mapping[str, int]) -> dict[str, tuple[float, ...]]:
    """How long the branch is that ends in a leaf, then the leaf's time."""
    parents = {node.parent for node in nodes.values()}
    leaves = [name for name in nodes if name not in parents] or list(nodes)[-1:]
    return {name: (depths[name], nodes[name].order, number) for number, name in enumerate(leaves)}


def _measure_depths(nodes: Mapping[str, Node]) -> tuple[dict[str, int], set[str]]:
    """How many stand above each, and those that have no root, as some above them name each other in a circle.
    Each node is visited once."""
    depths: dict[str, int] = {}
    rootless: set[str] = set()
    for name in nodes:
        path: dict[str, None] = {}
        while name in nodes and name not in depths and name not in path:
            path[name] = None
            name = nodes[name].parent
        if name in path or name in rootless:
            rootless.update(path)
        above = depths.get(name, -1)
        for distance, one in enumerate(reversed(path), 1):
            depths[one] = above + distance
    return depths, rootless


def _climb(nodes: Mapping[str, Node], name: str) -> list[Node]:
    path: list[Node] = []
    seen: set[str] = set()
    while name in nodes and name not in seen:
        seen.add(name)
        path.append(nodes[name])
        name = nodes[name].parent
    return path[::-1]


def leave_out_branches(messages: list[Message]) -> list[Message]:
    """The messages; where one was edited or answered again, those of the other branches are left out.

    Messages of both sides below one aren't branches, but a thread whose messages name its first one.
    """
    nodes: dict[str, Node] = {}
    children: dict[str, list[str]] = {}
    messages = list(messages)
    for place, message in enumerate(messages):
        if found := message.details.get(NODE):
            name, parent, order = found
            nodes[name] = Node(name, parent, float(place) if order is None else order, place)
            children.setdefault(parent, []).append(name)
            details = {key: value for key, value in message.details.items() if key != NODE}
            messages[place] = message._replace(details=details)
    forks = []
    depths, rootless = _measure_depths(nodes)
    for parent in children.keys() & nodes.keys():
        if len(children[parent]) == 1 or parent in rootless:
            continue  # one reply, or messages that name each other in a circle
        said = {name: messages[nodes[name].value].role for name in children[parent]}
        said = {name: role for name, role in said.items() if role in ("user", "assistant")}
        if len(said) > len(set(said.values())) == 1:
            forks.append(list(said))
    if not forks:
        return messages
    left = {nodes[name].value for name in _list_below(_choose_others(nodes, depths, forks), children)}
    return [
        leave_out(reasons.OTHER_BRANCHES) if place in left else message
        for place, message in enumerate(messages)
    ]


def _choose_others(
    nodes: Mapping[str, Node], depths: Mapping[str, int], forks: Iterable[list[str]]
) -> list[str]:
    """Of each fork, all but the one that leads to the best branch."""
    best: dict[str, tuple[float, ...]] = _rank_leaves(nodes, depths)
    for name in sorted(nodes, key=lambda name: depths[name], reverse=True):
        parent = nodes[name].parent
        best[parent] = max(best.get(name, ()), best.get(parent, ()))
    chosen = [(fork, max(fork, key=lambda name: best.get(name, ()))) for fork in forks]
    return [name for fork, one in chosen for name in fork if name != one]


def _list_below(names: list[str], children: Mapping[str, list[str]]) -> set[str]:
    """These, and all that were said below them."""
    below: set[str] = set()
    while names:
        if (name := names.pop()) not in below:
            below.add(name)
            names.extend(children.get(name, ()))
    return below
