"""A token limit that holds with many calls in flight: each call reserves its highest cost first."""

import asyncio
from dataclasses import dataclass
from typing import NamedTuple

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
    """The remaining budget does not cover the next call; the message is a sentence."""


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


class Prices(NamedTuple):
    """Of a million tokens, in whatever currency the endpoint bills."""

    prompt: float = 0.0
    answer: float = 0.0

    def cost(self, prompt: int, answer: int) -> float:
        return (prompt * self.prompt + answer * self.answer) / 1_000_000


class TokenBudget:
    """Up to ``limit`` tokens and ``max_cost`` at ``prices`` (None: unlimited), counting ``used`` from an
    earlier run. For one event loop."""

    def __init__(
        self,
        limit: int | None,
        used: TokensUsed,
        *,
        max_cost: float | None = None,
        prices: Prices = Prices(),  # noqa: B008
    ) -> None:
        self.limit, self.used = limit, used
        self.max_cost, self._prices = max_cost, prices
        self._reserved = (0, 0)
        self._budget_changed = asyncio.Condition()

    @property
    def reserved(self) -> int:
        """The most tokens that calls in flight may take."""
        return sum(self._reserved)

    async def reserve(self, prompt: int, answer: int = 0) -> None:
        """Wait until the tokens of a call can be reserved. Raises :class:`BudgetExhausted` if they never
        can."""
        async with self._budget_changed:
            while self._exceeds(prompt + self._reserved[0], answer + self._reserved[1]):
                if said := self._exceeds(prompt, answer):
                    raise BudgetExhausted(said)
                # Calls in flight usually cost less than they reserved.
                await self._budget_changed.wait()
            self._reserved = self._reserved[0] + prompt, self._reserved[1] + answer

    async def charge(
        self, reserved: tuple[int, int], prompt: int, completion: int, *, estimated: bool = False
    ) -> None:
        """Release the reservation of a call and count its actual cost."""
        async with self._budget_changed:
            self._reserved = self._reserved[0] - reserved[0], self._reserved[1] - reserved[1]
            self.used.prompt += prompt
            self.used.completion += completion
            self.used.calls += 1
            if estimated:
                self.used.estimated += prompt + completion
            self._budget_changed.notify_all()

    def _exceeds(self, prompt: int, answer: int) -> str:
        """Why the next tokens don't fit; empty if they do."""
        used, tokens = self.used.total, prompt + answer
        if self.limit is not None and used + tokens > self.limit:
            return (
                f"The token budget is spent: {used:,} of {self.limit:,} are used, and the next call may take "
                f"{tokens:,}."
            )
        cost = self._prices.cost(self.used.prompt, self.used.completion)
        if self.max_cost is not None and cost + self._prices.cost(prompt, answer) > self.max_cost:
            return (
                f"The budget is spent: {cost:.4f} of {self.max_cost:g} are used, and the next call may cost "
                f"{self._prices.cost(prompt, answer):.4f}."
            )
        return ""
