"""Minimal pairs: tables of one's own, and BLiMP."""
