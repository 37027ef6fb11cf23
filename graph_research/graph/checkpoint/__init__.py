"""The store of runs: `ports` says what a store must do, `base` has `Checkpointer`, `memory`, `sqlite`
and `postgres` are stores, and `conformance` has the tests that every store must pass."""
