"""Counting tokens without a tokenizer: every model has another one, and most are not to be had."""

from __future__ import annotations

import math
from dataclasses import dataclass

CHARS_PER_TOKEN = 4
"""Of English; what a prompt takes is counted by `count_tokens`."""


def count_tokens(text: str) -> int:
    """About how many tokens a text takes, rounded up: four characters each in English, fewer in other scripts."""
    return -(-quarter_tokens(text) // 4)


def quarter_tokens(text: str) -> int:
    """About four times the tokens of a text, by the scripts of its characters; of ASCII its length.

    What a character counts was measured with the Universal Declaration of Human Rights in 37 languages and the
    vocabularies o200k (GPT-4o and later), cl100k (GPT-4), Llama 3, Mistral 7B and Claude 2. These differ by up to five
    times for one script; what counts is about the larger of cl100k and Llama 3, since a prompt that is too long costs a
    call, and one that is too short some sources. Characters a token, measured (o200k, cl100k, Llama 3) and as counted
    here: English 5.4 5.4 5.4, 4.0; Russian 4.3 2.3 3.7, 2.2; Vietnamese 3.6 2.0 3.8, 2.1; Greek 2.8 1.1 2.7, 1.2;
    Arabic 3.3 1.5 2.7, 1.2; Hindi 3.5 1.0 1.9, 1.2; Tamil 3.0 0.7 0.7, 0.6; Thai 2.4 1.0 2.2, 1.0; Georgian
    3.6 0.5 0.5, 0.6; Amharic 0.5 0.3 0.3, 0.4; Chinese 1.3 0.9 1.2, 0.8; Japanese 1.2 0.9 1.4, 0.8; Korean
    1.8 1.0 1.8, 1.0.

    A character's script shows in the first bytes of its UTF-8, which are counted as bytes: tens of milliseconds for a
    million characters, none for ASCII.
    """
    if text.isascii():
        return len(text)
    whole = text.encode("utf-8", "surrogatepass")
    data = whole.translate(None, _ASCII)
    firsts = data.translate(_QUARTERS)
    total = len(whole) - len(data) + sum(quarters * firsts.count(quarters) for quarters in set(_QUARTERS) - {0})
    for first, seconds, more in _BLOCKS:
        if first in data:
            total += more * data.translate(_marking(seconds)).count(bytes((first, _MARK)))
    return total


def _quarters_of_first_bytes() -> bytes:
    """By the byte that a character beyond ASCII begins with, its quarters of a token; 0 for all other bytes."""
    quarters = bytearray(0x100)
    for first, last, each in (
        (0xC2, 0xCF, 4),  # Latin with marks, Greek
        (0xD0, 0xD3, 2),  # Cyrillic
        (0xD4, 0xD6, 8),  # Armenian
        (0xD7, 0xDF, 4),  # Hebrew, Arabic
        (0xE0, 0xE1, 8),  # the scripts of India and South-East Asia, Georgia and Ethiopia
        (0xE2, 0xE2, 4),  # punctuation and signs
        (0xE3, 0xED, 5),  # Chinese, Japanese, Korean
        (0xEE, 0xEF, 5),
        (0xF0, 0xF4, 12),  # emoji and rare characters
    ):
        quarters[first : last + 1] = bytes((each,)) * (last + 1 - first)
    return bytes(quarters)


_ASCII = bytes(range(0x80))
_QUARTERS = _quarters_of_first_bytes()
_BLOCKS = (
    (0xE0, (0xA4, 0xA5, 0xB8, 0xB9), -4),  # Devanagari, Thai
    (0xE0, (0xA6, 0xA7), -3),  # Bengali
    (0xE1, (*range(0x88, 0x8F),), 4),  # Ethiopic
    (0xE1, (*range(0xB8, 0xBC),), -3),  # the letters of Vietnamese
    (0xEF, (0xBC,), -1),  # full-width letters and marks
)
"""First byte, second bytes, and how many quarters these characters count more than others with that first byte."""

_MARK = 0x80


def _marking(seconds: tuple[int, ...]) -> bytes:
    """A table that turns these bytes that go on with a character into the mark, and the others into something else."""
    return bytes(byte if not 0x80 <= byte < 0xC0 else _MARK if byte in seconds else 0xBF for byte in range(0x100))


SCAFFOLD_SHARE = 0.25
"""A prompt's own words count as overhead up to this share of the window."""

OUTPUT_SHARE = 0.25
"""No answer is given more of a window than this."""


def usable_tokens(
    window_tokens: int, *, overhead_tokens: int = 0, reserved_tokens: int = 0, safety_margin: float = 0.15
) -> int:
    """floor((window - overhead - reserved output) x (1 - margin)), never below 0."""
    return max(0, math.floor((window_tokens - overhead_tokens - reserved_tokens) * (1 - safety_margin)))


@dataclass(frozen=True, kw_only=True)
class WindowBudget:
    """A window shared out: `scaffold_tokens` for a prompt's own words, `output_tokens` for the answer, the rest for
    what it quotes, less a margin for what the count gets wrong."""

    window_tokens: int
    output_tokens: int
    safety_margin: float = 0.15

    @classmethod
    def of(cls, window_tokens: int, *, wanted_output_tokens: int, safety_margin: float = 0.15) -> WindowBudget:
        """With the output cut to its share of a window that is small for it."""
        return cls(
            window_tokens=window_tokens,
            output_tokens=max(1, min(wanted_output_tokens, math.floor(window_tokens * OUTPUT_SHARE))),
            safety_margin=safety_margin,
        )

    def prompt_tokens(self) -> int:
        """What a whole prompt may take where its own words are not told from what it quotes."""
        return usable_tokens(self.window_tokens, reserved_tokens=self.output_tokens, safety_margin=self.safety_margin)

    def material_tokens(self, scaffold_tokens: int) -> int:
        """What a prompt may quote beside its own words."""
        counted = min(scaffold_tokens, math.floor(self.window_tokens * SCAFFOLD_SHARE))
        usable = usable_tokens(
            self.window_tokens,
            overhead_tokens=counted,
            reserved_tokens=self.output_tokens,
            safety_margin=self.safety_margin,
        )
        left = self.window_tokens - self.output_tokens - scaffold_tokens
        return max(0, min(usable, left))
