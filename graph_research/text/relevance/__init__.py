"""What a text says to a question, a claim or another text: general methods over words, values and places."""
