"""Distributions over trees from scores: partition function, marginals, best trees, samples.

Generic, for any chart whose trees have one derivation each: `descent`, `selection`. For projective dependency trees:
`eisner` (the chart), `eisner_items` (its spans for the descent), `projective` (`ProjectiveCRF`).
"""
