"""What depends on a language: words with stems and weights, numbers, dates, negations and words of scope."""
