"""HTTP client for servers that the user chose: retries, limits, circuit breaker, redaction."""
