"""Search providers behind one protocol."""
