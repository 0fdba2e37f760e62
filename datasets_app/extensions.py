"""Where another app joins in, so that this one never imports it. Filled in AppConfig.ready()."""

from collections.abc import Callable
from typing import Any

# Called inside the import's transaction with (dataset, first session pk, last session pk), after
# the turns stand. The dataset's sessions between the two are the new ones. What is returned is
# added to the import's result.
after_import: list[Callable[[Any, int, int], dict[str, int]]] = []

# Called with (dataset, user) for the dataset page; returns {"title", "template", "context"} or None.
dataset_panels: list[Callable[[Any, Any], dict[str, Any] | None]] = []

# Called with (session, turns shown, user) for the session page; returns, by the turns' primary keys,
# short notes that stand under a turn, in no more than a fixed number of queries.
turn_notes: list[Callable[[Any, Any, Any], dict[int, list[str]]]] = []
