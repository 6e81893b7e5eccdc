"""Trees from elsewhere to sum over: files of trees, spaCy pipelines."""
