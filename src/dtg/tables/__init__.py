"""Tables of results: sentences in from files of any size, rows out in order, files that survive interruption."""
