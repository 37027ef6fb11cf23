"""The engine: state graphs as data, checked before they run, checkpointed after each node; it knows no research."""
