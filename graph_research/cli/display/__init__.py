"""What a person sees of a command: results, progress of a run, and its banner."""
