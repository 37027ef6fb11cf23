"""Numbers with their nouns, and texts cut to a length, as messages and reports write them in English."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """`1 source`, `2 searches`, `3 entries`."""
    return f"{number} {noun if number == 1 else _plural(noun)}"


def shortened(text: str, most_chars: int) -> str:
    """The text, or its beginning with an ellipsis where it is longer than `most_chars`."""
    return text if len(text) <= most_chars else text[: most_chars - 1].rstrip() + "…"


def one_line(text: str) -> str:
    """The text on one line: unprintable characters become spaces, and runs of white space a single space."""
    line = " ".join(text.split())
    if line.isprintable():
        return line
    return " ".join("".join(sign if sign.isprintable() else " " for sign in line).split())


def _plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"
