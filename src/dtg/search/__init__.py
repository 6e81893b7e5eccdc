"""Word-synchronous beam search with a KV cache, generation, and what they keep between words."""
