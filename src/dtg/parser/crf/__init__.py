"""The projective CRF: partition function, marginals, best trees, samples."""
