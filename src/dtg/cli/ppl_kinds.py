"""Which probabilities `dtg evaluate ppl` looks at: options in, kinds out, and the reasons why others are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dtg.cli.evaluation_options import names_in
from dtg.errors import InputError
from dtg.evaluation.perplexity_rows import WITH_TREES, By, GivenSentence, Measuring
from dtg.io.settings import check_choice
from dtg.scoring.marginals import why_no_estimate

FROM_TREES: tuple[By, ...] = ("proposal", "estimate")


@dataclass(frozen=True, slots=True)
class Kinds:
    """What is computed, and why not the rest."""

    by: tuple[By, ...]
    left_out: Mapping[By, str]

    @classmethod
    def of(cls, asked: str | None, *, is_exact: bool, has_gold: bool, has_parser: bool) -> Kinds:
        """From --by, or what goes without it. A model without trees is exact, whatever was asked for."""
        names = names_in(asked)
        if names is None:
            names = [kind for kind in WITH_TREES if has_gold or kind != "joint"]
        else:
            check(names, has_gold=has_gold, has_parser=has_parser)
        kinds = tuple(kind for kind in WITH_TREES if kind in names)
        if is_exact:
            was_asked = asked is not None or has_parser
            return cls(("exact",), dict.fromkeys(kinds, "the model has no trees") if was_asked else {})
        reasons: dict[By, str] = {kind: "not in --by" for kind in WITH_TREES if kind not in kinds}
        if not has_gold:
            reasons["joint"] = "--text has no trees"
        return cls(kinds, reasons)

    @property
    def use_proposal(self) -> bool:
        return any(kind in self.by for kind in FROM_TREES)

    def possible(self, how: Measuring, first: GivenSentence, *, was_asked: bool) -> Kinds:
        """Without the estimate, if the proposal does not draw trees at random; an error, if it was asked for."""
        if "estimate" not in self.by or (reason := why_no_estimate(how.draw(first.words))) is None:
            return self
        if was_asked:
            raise InputError(
                f"--by estimate cannot be had from the trees of this --parser: {reason}. Leave estimate out, or name a "
                "parser that dtg train-parser has made, or trees that dtg parse --sample has drawn."
            )
        others = tuple(kind for kind in self.by if kind != "estimate")
        return Kinds(others, {**self.left_out, "estimate": f"not possible with these trees: {reason}"})

    def lines(self) -> list[str]:
        """What is left out and why, a line for each reason."""
        kinds = {
            reason: [kind for kind in WITH_TREES if self.left_out.get(kind) == reason]
            for reason in self.left_out.values()
        }
        return [f"left out: {', '.join(some)} ({reason})." for reason, some in kinds.items()]


def check(names: Sequence[str], *, has_gold: bool, has_parser: bool) -> None:
    """Raise unless all of these can be had."""
    if not names:
        raise InputError(f"--by names no kind of probability. Known: {', '.join(WITH_TREES)}.")
    for name in names:
        check_choice("--by", name, WITH_TREES)
    if "joint" in names and not has_gold:
        raise InputError("--by joint needs trees, and --text has none. Leave joint out, or give --conllu FILE.")
    if has_parser and not any(kind in names for kind in FROM_TREES):
        raise InputError(
            f"--parser proposes trees, which --by {','.join(names)} does not use. Add proposal or estimate."
        )
