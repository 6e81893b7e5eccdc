"""The explorer: a page on which one watches the search read a sentence, served from this machine or saved as one file."""
