"""Scores of sources, claims and the whole job: pure functions of requirements group 17."""
