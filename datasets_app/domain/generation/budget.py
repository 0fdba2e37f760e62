"""A token limit that holds with many calls in flight: each call reserves its highest cost first."""

import asyncio
from dataclasses import dataclass

# UTF-8 bytes per token: fewer than in any usual text, so reservations err on the high side.
BYTES_PER_TOKEN = 3
# Overhead of the protocol for each message.
TOKENS_PER_MESSAGE = 8


def estimate_tokens(*texts: str) -> int:
    """The upper bound of the tokens of ``texts``, sent as messages of one request."""
    return sum(
        -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE for text in texts
    )


class BudgetExhausted(Exception):
    """The remaining budget does not cover the next call."""


@dataclass
class TokensUsed:
    """``estimated`` is the part of the sum that no endpoint reported: answers without usage, and
    interrupted calls, which may have been billed."""

    prompt: int = 0
    completion: int = 0
    estimated: int = 0
    calls: int = 0

    @property
    def total(self) -> int:
        return self.prompt + self.completion


class TokenBudget:
    """Up to ``limit`` tokens (None: unlimited), counting ``used`` from an earlier run. For one event loop."""

    def __init__(self, limit: int | None, used: TokensUsed) -> None:
        self.limit, self.used = limit, used
        self.reserved = 0
        self._budget_changed = asyncio.Condition()

    async def reserve(self, tokens: int) -> None:
        """Wait until ``tokens`` can be reserved. Raises :class:`BudgetExhausted` if they never can."""
        async with self._budget_changed:
            while self.limit is not None and self.used.total + self.reserved + tokens > self.limit:
                if self.used.total + tokens > self.limit:
                    raise BudgetExhausted
                # Calls in flight usually cost less than they reserved.
                await self._budget_changed.wait()
            self.reserved += tokens

    async def charge(self, reserved: int, prompt: int, completion: int, *, estimated: bool = False) -> None:
        """Release the reservation of a call and count its actual cost."""
        async with self._budget_changed:
            self.reserved -= reserved
            self.used.prompt += prompt
            self.used.completion += completion
            self.used.calls += 1
            if estimated:
                self.used.estimated += prompt + completion
            self._budget_changed.notify_all()
