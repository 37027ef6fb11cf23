"""Formats that are not text: read in one child process without network, keys or files, in bounded time and memory.

`limited.py` is the parent's side, `child.py` the process; every other module reads formats inside it.
"""
