"""What the stores need of the operating system."""

from __future__ import annotations

import subprocess
import sys


def test_the_memory_store_runs_a_graph_where_there_is_no_fcntl() -> None:
    program = """
import asyncio, sys
sys.modules["fcntl"] = None  # `import fcntl` fails, as on Windows
from graph_research import MemoryCheckpointer, Runtime, load_graph
text = '{graph: g, start: done, nodes: {done: {end: completed}}, edges: []}'
result = asyncio.run(Runtime(load_graph("g.yaml", text=text), checkpointer=MemoryCheckpointer()).run({}))
print(result.status)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("completed\n", "")
