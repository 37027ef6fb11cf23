"""Everything outside that a run may ask: models and search."""
