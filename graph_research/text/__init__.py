"""Text as evidence: canonical form, blocks, locators, chunks, PDF extraction. Pure, no network."""
