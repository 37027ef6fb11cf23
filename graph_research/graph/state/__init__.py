"""What a run's state is made of: statuses, positions and their hashes, addresses, reducers, chunked lists, state at a
step."""
