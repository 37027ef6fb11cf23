"""The expression language of graphs: an allow-listed subset of Python, compiled and bounded."""
