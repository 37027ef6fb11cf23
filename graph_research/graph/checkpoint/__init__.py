"""Stores of runs. All of them pass `conformance.py`."""
