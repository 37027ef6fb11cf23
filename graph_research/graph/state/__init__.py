"""What a run's state is made of: positions, addresses, reducers, chunked lists, step hashes."""
