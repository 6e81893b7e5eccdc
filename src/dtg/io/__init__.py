"""Files: atomic writes, and trained models on disk."""
