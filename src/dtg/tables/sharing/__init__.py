"""One table that several processes fill: who computes which sentences, and where rows wait until it is their turn."""
