"""Bundles that users of the service bring."""
