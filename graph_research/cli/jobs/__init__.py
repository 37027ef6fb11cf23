"""Runs in the background: `run --detach`, the worker that drives them, and what other commands show of them."""
