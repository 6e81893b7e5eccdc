"""Attention to cached rows, in blocks and pair by pair, against one row at a time."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from dtg.model.attention import HeadGroup
from dtg.model.cached import cached_keys
from dtg.model.cached.cached_keys import CachedKeys, KeyBlocks, VisibleRows
from dtg.model.cached.key_pairs import ROWS_TOGETHER, KeyPairs

HEADS, WIDTH, CACHED, CHANNELS = 3, 5, 40, 4
ONE_VIEW = (HeadGroup(0, 0, HEADS),)
TWO_VIEWS = (HeadGroup(0, 0, 1), HeadGroup(1, 1, HEADS))


def random_view(rows: int, widest: int, chance: torch.Generator, has_channel: bool) -> VisibleRows:
    """Each row sees one to `widest` different cached rows; what is beyond them is arbitrary."""
    attends = torch.stack([torch.randperm(CACHED, generator=chance)[:widest] for _ in range(rows)])
    relative = torch.randint(-1, 6, attends.shape, generator=chance)
    keys = torch.randint(1, widest + 1, (rows,), generator=chance)
    channel = torch.randint(0, CHANNELS, attends.shape, generator=chance) if has_channel else None
    return VisibleRows(attends, relative, keys, channel)


def one_at_a_time(
    views: list[VisibleRows],
    groups: tuple[HeadGroup, ...],
    lowest: int,
    skip: int,
    tables: tuple[Tensor, Tensor, Tensor, Tensor | None],
) -> Tensor:
    stored, content, by_position, by_channel = tables
    found = torch.empty_like(content)
    for group in groups:
        view = views[group.view]
        for row in range(len(content)):
            count = int(view.keys[row + skip])
            some = view.attends[row + skip, :count]
            for head in range(group.first, group.stop):
                scores = stored[some, 0, head] @ content[row, head]
                scores = scores + by_position[head, row, view.relative[row + skip, :count] - lowest]
                if by_channel is not None and view.channel is not None:
                    scores = scores + by_channel[head, row, view.channel[row + skip, :count]]
                found[row, head] = scores.softmax(0) @ stored[some, 1, head]
    return found.flatten(1)


@pytest.mark.parametrize("at_most, kind", [(0, KeyBlocks), (1_000, KeyPairs)])
@pytest.mark.parametrize("groups", [ONE_VIEW, TWO_VIEWS])
@pytest.mark.parametrize("rows, skip", [(1, 0), (37, 0), (37, 20), (ROWS_TOGETHER + 30, 10)])
@pytest.mark.parametrize("has_channel", [False, True])
def test_both_ways_give_what_each_row_sees(
    at_most: int,
    kind: type,
    groups: tuple[HeadGroup, ...],
    rows: int,
    skip: int,
    has_channel: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cached_keys, "KEYS_AT_MOST", at_most)
    chance = torch.Generator().manual_seed(rows + skip)
    views = [random_view(rows, widest, chance, has_channel) for widest in (3, 9)[: len(groups)]]
    keys = CachedKeys.of(views, (groups, groups), skip=skip, share_little=True)
    assert all(isinstance(some, kind) for view in keys.views for some in (*view.all_rows, *view.left))
    for layer, is_last in ((0, False), (1, True)):
        skipped = skip if is_last else 0

        def table(*shape: int) -> Tensor:
            return torch.randn(*shape, dtype=torch.float64, generator=chance)

        queries = rows - skipped
        by_position = table(HEADS, queries, len(keys.positions) + 1)
        by_position[:, :, -1] = -torch.inf
        by_channel = table(HEADS, queries, CHANNELS) if has_channel else None
        tables = table(CACHED, 2, HEADS, WIDTH), table(queries, HEADS, WIDTH), by_position, by_channel
        found = keys.of_layer(layer, is_last).attend_to(*tables)
        expected = one_at_a_time(views, groups, keys.span[0], skipped, tables)
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-13)
