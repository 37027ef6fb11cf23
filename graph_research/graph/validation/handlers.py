"""Handlers that are certainly not async, decided from their code without calling them."""

from __future__ import annotations

import dis
import functools
import inspect
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from types import CodeType
from typing import Any

_DISPLAYS = frozenset(
    {"BUILD_CONST_KEY_MAP", "BUILD_LIST", "BUILD_MAP", "BUILD_TUPLE", "DICT_UPDATE", "LIST_EXTEND", "LOAD_CONST"}
)
"""Instructions that leave a constant, a dict, a list or a tuple, which cannot be awaited."""


def is_not_async(handler: Callable[..., Any]) -> bool:
    """Whether a handler is certainly not async: a generator, or a function without `async` that returns nothing but
    dicts and constants. False where it cannot be decided, as for a function that returns what it gets from another."""
    while isinstance(handler, functools.partial):
        handler = handler.func
    function = handler if inspect.isroutine(handler) else getattr(type(handler), "__call__", None)  # noqa: B004 -- the method itself
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType) or code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ITERABLE_COROUTINE):
        return False
    return bool(code.co_flags & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR)) or _returns_displays(code)


def _returns_displays(code: CodeType) -> bool:
    pairs = list(pairwise(dis.get_instructions(code)))
    stored = defaultdict(list)
    for before, at in pairs:
        if at.opname == "STORE_FAST":
            stored[at.argval].append(before.opname in _DISPLAYS)
    returned = [
        before.opname in _DISPLAYS or (before.opname.startswith("LOAD_FAST") and all(stored[before.argval] or [False]))
        for before, at in pairs
        if at.opname == "RETURN_VALUE"
    ] + [True for _, at in pairs if at.opname == "RETURN_CONST"]
    return bool(returned) and all(returned)
