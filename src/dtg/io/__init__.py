"""Files and settings: atomic writes, hashes, compressed text, JSON, saved models, pictures, checked configurations."""
