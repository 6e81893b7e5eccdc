"""The free corpus: sentences of free texts, split into words, in shards that `dtg parse` gives trees to.

`python -m tools.corpus DATA --out FOLDER` builds it; docs/data.md says from what, and what is left out.
"""
