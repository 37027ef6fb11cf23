"""What `doctor` checks."""
