"""What can be done with stored runs: fork, replay, state diff, portable bundles."""
