"""What a run's state is made of: rows, positions and their hashes, addresses, reducers, chunked lists, state at a
step."""
