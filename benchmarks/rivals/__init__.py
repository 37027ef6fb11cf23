"""The same work done by others, of the dependency group `bench`: engines (LangGraph, Burr), a queue (procrastinate)."""
