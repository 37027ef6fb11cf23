"""The work that every engine is given, and how its cost is metered."""

from __future__ import annotations

import base64
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Literal

Durability = Literal["process", "power"]

SYNCHRONOUS = {"process": "NORMAL", "power": "FULL"}
TEXT = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz ", k=1000))


def written(n: int) -> str:
    """1 KB that differs for each node."""
    return f"{n:06} {TEXT}"


@cache
def added(n: int, chars: int) -> str:
    """`chars` characters that differ for each step and do not compress well; made once, so that nobody pays for it."""
    return base64.b85encode(random.Random(n).randbytes(chars * 4 // 5 + 4)).decode()[:chars]


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Seconds of CPU, of the whole process, and of the clock."""

    cpu: float
    wall: float


class Meter:
    """The cost of what ran inside `metered`."""

    cost = Cost(cpu=0.0, wall=0.0)


@contextmanager
def metered() -> Iterator[Meter]:
    meter = Meter()
    cpu, wall = time.process_time(), time.perf_counter()
    yield meter
    meter.cost = Cost(cpu=time.process_time() - cpu, wall=time.perf_counter() - wall)
