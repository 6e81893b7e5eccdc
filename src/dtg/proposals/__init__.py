"""Proposals that are not a trained parser of dtg: files of trees, spaCy pipelines."""
