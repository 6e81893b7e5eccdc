"""A prepared corpus: a folder made by `dtg prepare` in, its tokenizer and its splits out, memory-mapped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from dtg.errors import CorpusError
from dtg.text.manifest import Manifest, check_files, read_manifest
from dtg.text.split import Split
from dtg.text.tokenizer import Tokenizer


class Corpus:
    """`splits` by name ("train", "dev", perhaps "test"), the `tokenizer`, and the `manifest` with counts and hashes.

    `hash` identifies the content: the same input and options give the same one.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder, self.manifest = folder, manifest
        self.hash: str = manifest["hash"]
        self.tokenizer = Tokenizer.load(folder / manifest["tokenizer"]["file"])
        self.splits: Mapping[str, Split] = MappingProxyType(
            {name: Split(name, folder, manifest, self.tokenizer) for name in manifest["splits"]}
        )

    @classmethod
    def open(cls, folder: str | Path) -> Corpus:
        """Open a folder after checking that it is whole; what is large is checked by size (`verify` does the rest)."""
        folder = Path(folder)
        manifest = read_manifest(folder)
        check_files(folder, manifest, thorough=False)
        return cls(folder, manifest)

    def split(self, name: str) -> Split:
        """A split by name, or an error that says which there are."""
        if name not in self.splits:
            raise CorpusError(f"{self.folder} has no split {name!r}; it has {', '.join(self.splits)}.")
        return self.splits[name]

    def verify(self) -> None:
        """Check the hash of every file."""
        check_files(self.folder, self.manifest, thorough=True)
