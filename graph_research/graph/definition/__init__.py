"""A graph's definition: YAML with places, parsed to a specification and compiled."""
