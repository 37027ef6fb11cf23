"""The smallest graph with a loop, for tests of whatever happens to a run: three ticks and the end."""

from __future__ import annotations

__all__ = ["COUNTDOWN"]

COUNTDOWN = """\
graph: countdown
version: "1"
state: {n: {type: integer, default: 3, input: true}, seen: {type: array, reduce: append, default: []}}
start: tick
loops: {down: {while: n > 0, most: 10}}
nodes:
  tick: {set: {seen: "[n]", n: n - 1}}
  done: {end: completed}
edges:
  - {from: tick, to: tick, when: n > 0, loop: down}
  - {from: tick, to: done}
"""
