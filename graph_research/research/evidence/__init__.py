"""From sources to proved claims: archive, quotes, citations, claim support, findings."""
