"""Options of the search as keywords of methods and functions: typed, shown by `help`, and refused where they are not known."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import wraps
from typing import ParamSpec, TypedDict, TypeVar

from dtg.search.options import Accuracy, BeamOptions, Boundary
from dtg.transitions.rules import Derivations

Given = ParamSpec("Given")
Returned = TypeVar("Returned")


class SearchOptions(TypedDict, total=False):
    """Options of the beam search that every method takes which searches; `LanguageModel` says what they are."""

    accuracy: Accuracy | None
    word_beam: int | None
    fast_track: int
    max_actions: int | None
    derivations: Derivations
    constrained: bool | None


class SurprisalOptions(SearchOptions, total=False):
    """The same, and those of surprisals."""

    boundary: Boundary
    columns: Sequence[str]


def spelled_out(options: type[SearchOptions]) -> Callable[[Callable[Given, Returned]], Callable[Given, Returned]]:
    """Make `help` and notebooks show the options that `Unpack` stands for; any other keyword is a TypeError, as elsewhere."""
    defaults = {field.name: field.default for field in fields(BeamOptions)}

    def spell_out(method: Callable[Given, Returned]) -> Callable[Given, Returned]:
        written = inspect.signature(method)
        named = [one for one in written.parameters.values() if one.kind is not one.VAR_KEYWORD]
        keywords = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=annotation.__forward_arg__
            )
            for name, annotation in options.__annotations__.items()
        ]
        shown = written.replace(parameters=[*named, *keywords])

        @wraps(method)
        def checked(*args: Given.args, **given: Given.kwargs) -> Returned:
            if unknown := [name for name in given if name not in shown.parameters]:
                raise TypeError(f"{method.__qualname__}() got an unexpected keyword argument {unknown[0]!r}")
            return method(*args, **given)

        checked.__signature__ = shown  # type: ignore[attr-defined]  # read by inspect
        return checked

    return spell_out
