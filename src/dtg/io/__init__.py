"""Files and settings: atomic writes, locks, hashes, compressed text, JSON, saved models, pictures, checked configurations."""
