"""Readers of the files in which people keep references: BibTeX, RIS, CSL-JSON and the database of Zotero."""
