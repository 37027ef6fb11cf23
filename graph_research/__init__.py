"""Deep research whose citations are proved, on a graph engine of its own."""
