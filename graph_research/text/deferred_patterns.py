"""Regular expressions of many words, compiled at their first use: to compile them all takes 0.05 to 0.1 s of the 1.5 s
that loading the modules of a research takes."""

from __future__ import annotations

import re
from typing import Any, cast

_deferred: list[_Deferred] = []


class _Deferred:
    """A pattern that is compiled when anything but its text is asked of it; what was asked is kept as an attribute, so
    that the next use costs no more than that of a compiled one."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name == "_compiled":
            self._compiled = re.compile(self.pattern, self._flags)
            return self._compiled
        value = getattr(self._compiled, name)
        setattr(self, name, value)
        return value


def deferred(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """`re.compile(pattern, flags)`, done at the first use. The functions of `re` do not take it."""
    made = _Deferred(pattern, flags)
    _deferred.append(made)
    return cast("re.Pattern[str]", made)


def compile_deferred() -> None:
    """Compile all patterns that were not used yet."""
    for each in _deferred:
        each.__getattr__("_compiled")
