"""Settings, the data home, what a working directory may set, and trust in it."""
