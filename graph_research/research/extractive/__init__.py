"""The embedded model without weights: sentences chosen word for word by code, deterministic, offline."""
