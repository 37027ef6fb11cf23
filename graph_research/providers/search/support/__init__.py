"""What search adapters share: JSON over HTTP, result construction, dates, DOIs, query text."""
