"""Counting tokens without a tokenizer: every model has another one, and most are not to be had."""

from __future__ import annotations

from typing import Protocol

__all__ = ["CharacterCounter", "TokenCounter"]


class TokenCounter(Protocol):
    """How many tokens a text takes, and how many characters so many tokens hold."""

    def tokens(self, text: str) -> int: ...

    def chars(self, tokens: int) -> int: ...


class CharacterCounter:
    """A fixed number of characters a token: 4, the rule of thumb for English (requirements 13.11)."""

    def __init__(self, chars_a_token: int = 4) -> None:
        self._chars_a_token = chars_a_token

    def tokens(self, text: str) -> int:
        """Rounded up, so that a text is never thought shorter than it is."""
        return -(-len(text) // self._chars_a_token)

    def chars(self, tokens: int) -> int:
        return max(tokens, 0) * self._chars_a_token
