"""Tokens: how many a text takes, and how many of a model's window a prompt may fill."""
