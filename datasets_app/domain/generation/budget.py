"""A bound on tokens that holds with many calls in flight: what a call may cost is set aside before it."""

import asyncio
from dataclasses import dataclass

# Bytes of UTF-8 for a token: fewer than in any usual text, so that what is set aside is rather too much.
BYTES_PER_TOKEN = 3
# What the protocol puts around each message.
TOKENS_PER_MESSAGE = 8


def estimate_tokens(*texts: str) -> int:
    """At most how many tokens ``texts`` are, as messages of one request."""
    return sum(
        -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE for text in texts
    )


class BudgetExhausted(Exception):
    """What is left of the budget is not enough for the next call."""


@dataclass
class TokensUsed:
    """``estimated`` is the part of the sum that no endpoint has told: answers without usage, and calls
    that were cut off, which may have been paid for."""

    prompt: int = 0
    completion: int = 0
    estimated: int = 0
    calls: int = 0

    @property
    def total(self) -> int:
        return self.prompt + self.completion


class TokenBudget:
    """``limit`` tokens, or no bound at all (None); ``used`` may begin with those of an earlier run.

    For one event loop.
    """

    def __init__(self, limit: int | None, used: TokensUsed) -> None:
        self.limit, self.used = limit, used
        self.reserved = 0
        self._budget_changed = asyncio.Condition()

    async def reserve(self, tokens: int) -> None:
        """Wait until ``tokens`` can be set aside. Raises :class:`BudgetExhausted` if they never can be."""
        async with self._budget_changed:
            while self.limit is not None and self.used.total + self.reserved + tokens > self.limit:
                if self.used.total + tokens > self.limit:
                    raise BudgetExhausted
                # Calls in flight mostly cost less than was set aside for them.
                await self._budget_changed.wait()
            self.reserved += tokens

    async def charge(self, reserved: int, prompt: int, completion: int, *, estimated: bool = False) -> None:
        """Give back what was set aside for a call, and count what it has cost."""
        async with self._budget_changed:
            self.reserved -= reserved
            self.used.prompt += prompt
            self.used.completion += completion
            self.used.calls += 1
            if estimated:
                self.used.estimated += prompt + completion
            self._budget_changed.notify_all()
