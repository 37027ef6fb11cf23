"""A report as a file of other programs: Word, PDF, Markdown for pandoc, and a table of its evidence."""
