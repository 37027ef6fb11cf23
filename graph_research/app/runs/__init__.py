"""A run's life: start, drive, resume, cancel, inspect, replay, export, retention."""
