"""The engine: state graphs as data, checked before they run, checkpointed after each node. Knows nothing of research."""
