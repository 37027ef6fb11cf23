"""A debugger for graphs: a slow consumer of a run's events, who looks at the store while the run waits for it."""
