"""Batches of whole sentences, as training has them: prepared rows, attention sentence by sentence, the softmax of targets."""
