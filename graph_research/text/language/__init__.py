"""What depends on a language: stop words, stems, lexicon, numbers and dates."""
