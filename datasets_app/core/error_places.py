"""Where an error comes from, without what it says: messages may quote the texts that they are about."""

import traceback


def describe_error(error: BaseException) -> str:
    """Type and location of an error and of its causes, without their messages."""
    described: list[str] = []
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        described.append(_describe_frames(cause))
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return "; after ".join(described)


def _describe_frames(error: BaseException) -> str:
    places = " < ".join(
        f"{frame.name} ({frame.filename.rsplit('/', 1)[-1]}:{frame.lineno})"
        for frame in reversed(traceback.extract_tb(error.__traceback__))
    )
    return f"{type(error).__name__} in {places}" if places else type(error).__name__
