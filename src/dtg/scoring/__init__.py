"""Scores of sentences and trees: surprisal, log p(x, y), what is known about log p(x), reranking."""
