"""Executing a compiled graph: run loop, node runs, routing, journal, cancellation."""
