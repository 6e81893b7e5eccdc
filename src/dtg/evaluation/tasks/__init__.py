"""What models can be evaluated on: perplexity, minimal pairs (BLiMP), SyntaxGym, reranking, and the accuracy of parsers."""
