"""What scores arcs: words to vectors, vectors to arc and label scores."""
