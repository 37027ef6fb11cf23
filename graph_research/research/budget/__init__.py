"""The budget of a prompt: which item is shown at which length where not all fits."""
