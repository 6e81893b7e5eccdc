"""BLiMP (Warstadt et al. 2020): minimal pairs and their log-probabilities in, accuracies out. Runs no model itself."""
