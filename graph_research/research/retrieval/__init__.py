"""Finding sources: federated search, page fetch, rank fusion, deduplication."""
