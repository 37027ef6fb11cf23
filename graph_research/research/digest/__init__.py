"""Digests of long sources: who gets one, how it is made, and the cache of those that were made."""
