"""A report: built from a run's state, then written as JSON, Markdown and one self-contained HTML file."""
