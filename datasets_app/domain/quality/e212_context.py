from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.quality.base import Check, Findings


class Context(Check):
    """``metadata.context`` of a reply is an object: Alignmenter stops at anything else."""

    code = "E212"
    title = "metadata.context isn't an object"

    def turn(self, turn: TurnRecord) -> Findings:
        context = (turn.metadata or {}).get("context")
        if turn.role != "assistant" or context is None or isinstance(context, dict):
            return None
        message = 'metadata.context must be an object, such as {"excerpts": ["…"]}'
        return (self.make_finding(turn, message, "metadata"),)
