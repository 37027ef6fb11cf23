"""Scores of sources, claims and the whole job, as pure functions."""
