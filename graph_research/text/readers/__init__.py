"""Readers of document formats: each turns bytes into a `Document`."""
