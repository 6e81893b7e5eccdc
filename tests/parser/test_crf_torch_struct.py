"""Partition function and marginals beside those of torch-struct 0.5, where that is installed (the `compare` extra).

It was written for torch 1: it warns when made, and its input must require gradients.
"""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import Tensor

from dtg.parser import ProjectiveCRF
from tests.parser.cells import random_scores

torch_struct = pytest.importorskip(
    "torch_struct", reason="torch-struct is not installed: pip install torch-struct==0.5"
)


def theirs(scores: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Log-partition and marginals; there, scores are (head, word) without a row for `<ROOT>`, which is on the diagonal."""
    words = scores.shape[1]
    arcs = scores[:, :, 1:].transpose(1, 2).clone()
    arcs[:, torch.arange(words), torch.arange(words)] = scores[:, :, 0]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*does not define `arg_constraints`", category=UserWarning)
        crf = torch_struct.DependencyCRF(arcs.requires_grad_(), lengths, multiroot=False)
    found = crf.marginals.detach().transpose(1, 2)
    roots = found.diagonal(dim1=1, dim2=2)
    return crf.partition.detach(), torch.cat([roots.unsqueeze(2), found - torch.diag_embed(roots)], 2)


@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_partition_and_marginals_agree(scale: float) -> None:
    lengths = torch.tensor([14, 1, 9, 2, 14])
    scores = random_scores(5, 14, seed=70, scale=scale)
    crf = ProjectiveCRF(scores, lengths)
    log_partition, marginals = theirs(scores, lengths)
    assert torch.allclose(crf.log_partition(), log_partition)
    assert torch.allclose(crf.marginals(), marginals, atol=1e-10)
