"""Debugger for graphs: takes a run's events one at a time and reads the store while the run waits."""
