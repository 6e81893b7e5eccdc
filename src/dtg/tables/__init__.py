"""Tables of results: sentences read from files of any size, rows written in order, resumable after interruption."""
