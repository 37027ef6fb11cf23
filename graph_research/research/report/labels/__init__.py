"""The fixed words of reports: one table a language, and which table a report takes."""
