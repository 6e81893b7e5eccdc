"""Word-synchronous beam search, generation, and what they keep between words."""
