"""The limits of a run: what it is likely to take, what is kept of them for writing, and how it keeps within them."""
