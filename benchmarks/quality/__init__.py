"""The parts of `benchmarks/evidence.py`: each measures one method beside the plain one on the same texts."""
