"""How good models are: results and gold in, scores with their uncertainty out."""
