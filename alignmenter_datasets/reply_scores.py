"""A scorer for ``alignmenter run --custom-scorer alignmenter_datasets.reply_scores:ReplyScores``.

Alignmenter reports means only. This adds the authenticity of each reply, by its own scorer, with the persona
and embeddings of its settings ``ALIGNMENTER_DEFAULT_PERSONA`` and ``ALIGNMENTER_EMBEDDING_PROVIDER``.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any


class ReplyScores:
    id = "replies"

    def __init__(self) -> None:
        from alignmenter.config import get_settings
        from alignmenter.scorers.authenticity import AuthenticityScorer

        settings = get_settings()
        persona, embedding = Path(settings.default_persona), settings.embedding_provider
        self._scorer: Any = AuthenticityScorer(persona, embedding=embedding)
        self._known: dict[tuple[str, int], float] = {}

    def score(self, sessions: Iterable[Any]) -> dict[str, Any]:
        """The first call is about all sessions; those after it, for parts of them, get no list."""
        is_whole = not self._known
        scores = []
        for session in sessions:
            for turn in session.turns:
                if turn.get("role") == "assistant" and turn.get("text"):
                    place = (session.session_id, turn["turn_index"])
                    if place not in self._known:
                        self._known[place] = self._scorer.score([{"turns": [turn]}])["mean"]
                    scores.append((*place, self._known[place]))
        mean = sum(score for *_, score in scores) / len(scores) if scores else 0.0
        return {"mean": round(mean, 3), "replies": len(scores), **({"scores": scores} if is_whole else {})}
