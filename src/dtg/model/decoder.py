"""The decoder: embeddings and layers that turn rows into hidden vectors.

Rows are embedded as the sum of what they read, then pass through layers of attention and feed-forward, with
normalisation after each (post, as released) or before (pre). docs/decoder.md says what the other choices are worth.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from dtg.model.attention import Keys, LayerKeys, PositionBiases, RelativeAttention, encode_positions
from dtg.model.config import Activation, ModelConfig
from dtg.model.norms import make_norm


class ReLUSquared(nn.Module):
    """The square of what is positive."""

    def forward(self, inner: Tensor) -> Tensor:
        squared: Tensor = SquareOfPositive.apply(inner)  # type: ignore[no-untyped-call]
        return squared


class SquareOfPositive(torch.autograd.Function):
    """y = r² with r = max(x, 0); dy/dx = 2 r, also where x is negative: nothing else is kept, or compared again."""

    @staticmethod
    def forward(ctx: Any, inner: Tensor) -> Tensor:
        positive = inner.relu()
        ctx.save_for_backward(positive)
        return positive.square()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (gradient,) = gradients
        (positive,) = ctx.saved_tensors
        of_inner: Tensor = (gradient * positive).mul_(2)
        return of_inner


class SwiGLU(nn.Module):
    """One half of the numbers, each multiplied by a gate that comes of the other half (SiLU)."""

    def forward(self, inner: Tensor) -> Tensor:
        gates, values = inner.chunk(2, dim=-1)
        return nn.functional.silu(gates) * values


ACTIVATIONS: dict[Activation, Callable[[], nn.Module]] = {
    "relu": partial(nn.ReLU, inplace=True),  # nobody needs what it is of
    "gelu": nn.GELU,
    "gelu_tanh": partial(nn.GELU, approximate="tanh"),
    "relu_squared": ReLUSquared,
    "swiglu": SwiGLU,
}
TRUNCATED_DEVIATION = 0.87962566  # of a standard normal cut off at two


class FeedForward(nn.Module):
    """Two linear maps around a non-linearity, row by row."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        is_gated = config.activation == "swiglu"  # then there is a gate for each number
        self.inner = nn.Linear(config.width, config.feedforward * (2 if is_gated else 1))
        self.outer = nn.Linear(config.feedforward, config.width)
        self.activation = ACTIVATIONS[config.activation]()
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, rows: Tensor) -> Tensor:
        output: Tensor = self.outer(self.dropout(self.activation(self.inner(rows))))
        return output


class Layer(nn.Module):
    """Attention, then feed-forward, each with its residual and normalisation."""

    def __init__(self, config: ModelConfig, channel_size: int) -> None:
        super().__init__()
        self.pre_norm = config.norm == "pre"
        self.attention = RelativeAttention(config, channel_size)
        self.attention_norm = make_norm(config.norm_kind, config.width)
        self.feedforward = FeedForward(config)
        self.feedforward_norm = make_norm(config.norm_kind, config.width)
        has_own = config.position_biases and not config.shared_position_biases
        self.biases = PositionBiases(config) if has_own else None
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, rows: Tensor, keys: LayerKeys, shared: PositionBiases | None, encoded: Tensor) -> Tensor:
        biases = shared if self.biases is None else self.biases
        if self.pre_norm:
            rows = keys.queries(rows) + self.dropout(self.attention(self.attention_norm(rows), keys, biases, encoded))
            return rows + self.dropout(self.feedforward(self.feedforward_norm(rows)))  # type: ignore[no-any-return]
        rows = self.attention_norm(keys.queries(rows) + self.dropout(self.attention(rows, keys, biases, encoded)))
        return self.feedforward_norm(rows + self.dropout(self.feedforward(rows)))  # type: ignore[no-any-return]


class Decoder(nn.Module):
    """Embeddings and layers. `tokens` is how many symbols have an embedding, `channel_size` the values of a view's channel."""

    def __init__(self, config: ModelConfig, tokens: int, channel_size: int = 0) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(tokens, config.width)
        has_shared = config.position_biases and config.shared_position_biases
        self.biases = PositionBiases(config) if has_shared else None
        self.scale = config.width**0.5 if config.embedding_scale else 1.0
        self.layers = nn.ModuleList(Layer(config, channel_size) for _ in range(config.layers))
        self.final_norm = make_norm(config.norm_kind, config.width) if config.norm == "pre" else nn.Identity()
        self.dropout = nn.Dropout(config.dropout)

    def embed(self, *tokens: Tensor) -> Tensor:
        """The sum of the tokens' embeddings; a negative token adds nothing."""
        together = torch.cat(tokens)  # one lookup: each has a gradient as large as the vocabulary
        vectors: Tensor = self.embedding(together.clamp(min=0)) * (together >= 0)[:, None]
        return vectors.view(len(tokens), -1, vectors.shape[1]).sum(0)

    def forward(self, operation: Tensor, piece: Tensor, keys: Keys) -> Tensor:
        """(rows, width) from the (rows,) operation and piece that each row reads; `keys` says what rows attend to.

        Rows that have no query in the last layer have no output.
        """
        rows = self.dropout(self.embed(operation, piece) * self.scale)
        encoded = encode_positions(keys, rows, self.config.width)
        for number, layer in enumerate(self.layers):
            last = number + 1 == len(self.layers)
            rows = layer(rows, keys.of_layer(number, last), self.biases, encoded)
        output: Tensor = self.final_norm(rows)
        return output


@torch.no_grad()
def initialise(decoder: nn.Module, config: ModelConfig, generator: torch.Generator) -> None:
    """Weights as released: linear maps truncated normal with variance (2 / layers) / inputs, biases 0."""
    for module in decoder.modules():
        if isinstance(module, nn.Linear):
            deviation = (2.0 / config.layers / module.in_features) ** 0.5 / TRUNCATED_DEVIATION
            nn.init.trunc_normal_(module.weight, 0.0, deviation, -2 * deviation, 2 * deviation, generator=generator)
            if module.bias is not None:
                module.bias.zero_()
        elif isinstance(module, nn.Embedding):
            bound = (3.0 / config.width) ** 0.5
            module.weight.uniform_(-bound, bound, generator=generator)
        elif isinstance(module, PositionBiases):
            for bias in (module.content, module.position):
                bias.normal_(0.0, config.head_width**-0.5, generator=generator)
    for module in decoder.modules():
        if isinstance(module, RelativeAttention) and module.gates is not None:
            module.gates.weight.zero_()
        if isinstance(module, Layer) and config.zero_outputs:
            module.attention.output.weight.zero_()
            module.feedforward.outer.weight.zero_()
