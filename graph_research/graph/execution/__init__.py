"""The runtime of the engine: the run loop drives a graph run superstep by superstep; nodes run with attempts, time
limits and fan-out; `transitions` computes the next position; `graph_state` is the one place that makes steps
durable."""
