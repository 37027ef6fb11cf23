"""Rate limits, waits that servers asked for, and circuit breakers, of one process or shared by several: `base` says
what they promise, `sql/` has the statements."""
