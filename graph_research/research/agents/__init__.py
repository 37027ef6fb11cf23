"""The roles: each turns a validated handoff into a validated output; none knows another, the state or the graph."""
