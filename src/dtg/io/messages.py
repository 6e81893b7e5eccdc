"""Parts of the messages that people read."""


def pluralize(count: int, noun: str) -> str:
    """A count with its noun, such as "1 tree" and "1,210 trees"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


class DtgWarning(UserWarning):
    """Something that is no error but should be known, such as a model that cannot be checked; commands print it."""
