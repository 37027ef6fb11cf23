"""Graph definitions as files: lookup, inspection, pictures, starters."""
