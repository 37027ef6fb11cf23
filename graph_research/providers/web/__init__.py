"""Fetching pages that other people name: URL guard, pinned addresses, limits, robots.txt."""
