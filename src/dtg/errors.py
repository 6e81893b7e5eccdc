"""Every error a user can meet, in one tree.

    DtgError
    ├── TreeError                words with heads or phrases that do not form a tree
    │   └── RootCountError       ... because it has no root word, or several
    ├── NonProjectiveError       a tree with crossing arcs where a projective one is needed
    ├── TreebankError            a treebank that cannot be read; names file, sentence and line
    ├── TransitionError          a derivation that goes wrong
    │   ├── IllegalTransition    an action that the state does not allow
    │   └── TooFarError          an arc farther than arc-swift's limit
    ├── TokenizerError           a word that has no subwords, or a tokenizer that does not fit
    ├── CorpusError              a prepared corpus that is missing, damaged or of another kind
    ├── ConfigError              a configuration with unknown keys or invalid values
    ├── CheckpointError          a checkpoint or saved model that is missing or damaged
    ├── TrainingError            a training run that cannot continue
    ├── UnknownNameError         a name that no registry knows; lists the known ones
    ├── NotFiniteError           a NaN or an infinity among weights or scores
    ├── PeerError                another of the processes that share the work has failed
    ├── InputError               an option or argument that does not fit, alone or with the others
    │   ├── FileError            a file that is missing, or cannot be read or written
    │   │   ├── DamagedFileError a file whose content is cut short, was altered or is not in its format
    │   │   └── LockedError      a file or folder that another process is writing
    │   ├── ColumnError          a table without a column that is needed
    │   └── ResumeError          settings or input that differ from those of the run to be resumed
    └── MissingExtraError        an optional dependency that is not installed

A message says what was expected, what was found, and what to do about it.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path


class DtgError(Exception):
    """The base class: the command line prints such errors without a traceback."""


class TreeError(DtgError):
    """Words with their heads or phrases do not form a tree; `word` is the number of the first word at fault."""

    word: int = 1


class RootCountError(TreeError):
    """A sentence has no root word, or several; exactly one is needed."""


class NonProjectiveError(DtgError):
    """A tree has crossing arcs, and what was asked for needs a projective one."""


class TreebankError(DtgError):
    """A treebank cannot be read at one place: `path`, `sentence` (counted from 1) and `line` say where."""

    def __init__(self, path: str | Path, sentence: int, line: int, reason: str, advice: str) -> None:
        self.path, self.sentence, self.line, self.reason = str(path), sentence, line, reason
        super().__init__(f"cannot read {path}, sentence {sentence} (line {line}): {reason}\n{advice}")


class TransitionError(DtgError):
    """A derivation goes wrong."""


class IllegalTransition(TransitionError):  # noqa: N818 - as one says it
    """An action is applied in a state that does not allow it."""


class TooFarError(TransitionError):
    """A tree needs an arc over more stack items than the system's limit."""


class TokenizerError(DtgError):
    """A word has no subwords, or a tokenizer does not fit what it is used for."""


class CorpusError(DtgError):
    """A prepared corpus is missing, damaged, or not what was expected."""


class ConfigError(DtgError):
    """A configuration has unknown keys or invalid values."""


class CheckpointError(DtgError):
    """A checkpoint or saved model is missing or damaged."""


class TrainingError(DtgError):
    """A training run cannot continue."""


class UnknownNameError(DtgError):
    """A name is looked up that nothing is registered under."""

    def __init__(self, what: str, name: object, known: Iterable[str]) -> None:
        super().__init__(f"there is no {what} called {name!r}. Known: {', '.join(known)}.")


class NotFiniteError(DtgError):
    """A weight or a log-probability is NaN or infinite, and should not be."""

    def __init__(self, what: str, found: str = "NaN") -> None:
        super().__init__(f"{what} is {found}: check the model's weights for NaN or infinity.")


class PeerError(DtgError):
    """Another of the processes that share the work has failed, or cannot be reached."""


class InputError(DtgError):
    """An option or argument does not fit, alone or with the others."""


class FileError(InputError):
    """A file is missing, or cannot be read or written."""


class DamagedFileError(FileError):
    """A file is cut short, was altered, or is not in the format that is expected of it."""


class LockedError(FileError):
    """A file or folder is being written by another process, which has locked it."""


class ColumnError(InputError):
    """A table has no columns that are known to play some roles; `roles` says which, each with an example if there is one."""

    def __init__(self, message: str, roles: Mapping[str, str]) -> None:
        self.roles = dict(roles)
        super().__init__(message)


class ResumeError(InputError):
    """Work cannot be resumed, because its settings or its input are not those it was started with."""


class MissingExtraError(DtgError):
    """An optional dependency is needed and not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs {package}, which is not installed. Install it with: pip install {package.lower()} "
            f"(or, in the folder of dtg's source code, pip install '.[{extra}]')"
        )
