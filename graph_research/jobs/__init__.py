"""Jobs: runs that wait in a queue for a worker. The queue is a store with leases; what a job does is up to its
`JobRunner`, so nothing here knows what a run is."""
