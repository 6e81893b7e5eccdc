"""Reading times: how much of them a model's columns explain beyond length, frequency and the like."""
