"""What is measured of a word beyond what the search itself needs: where it ends, and columns that are asked for."""
