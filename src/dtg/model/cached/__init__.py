"""Attention to rows in a KV cache, and the decoder as a search runs it."""
