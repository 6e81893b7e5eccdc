"""Phrase-structure trees: labelled, binary, projected from dependencies, and in brackets."""
