"""`Subwords`: what is kept of a pretrained encoder beside its weights, its tokenizer and its configuration.

Needs the extra `encoder` (transformers).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dtg.errors import CheckpointError, ConfigError, InputError, MissingExtraError

LONGEST = 512  # subwords, where an encoder does not say how many it reads


@dataclass(frozen=True)
class Subwords:
    """The tokenizer and the configuration of a pretrained encoder."""

    tokenizer: Any  # of transformers, the fast kind
    body: Any  # the configuration

    @classmethod
    def of(cls, name: str | Path) -> Subwords:
        """From a folder, or a name on the Hugging Face hub."""
        transformers = load_transformers()
        try:
            # For byte-level tokenizers a word has a space before it; others do not look at this.
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                str(name), add_prefix_space=True, trust_remote_code=False
            )
            body = transformers.AutoConfig.from_pretrained(str(name), trust_remote_code=False)
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"cannot load the encoder {str(name)!r}: {first_line(error)} Expected is bilstm, transformer, or a pretrained "
                "encoder: a folder with config.json and tokenizer.json, or a name on the Hugging Face hub."
            ) from None
        if not tokenizer.is_fast:
            raise ConfigError(
                f"the tokenizer of {str(name)!r} is of the slow kind; one with tokenizer.json is expected."
            )
        return cls(tokenizer, body)

    def save(self, folder: Path) -> None:
        """What `of` reads, without weights."""
        self.tokenizer.save_pretrained(folder)
        self.body.save_pretrained(folder)

    @classmethod
    def load(cls, folder: Path) -> Subwords:
        """What `save` wrote."""
        check_described(folder)
        return cls.of(folder)

    def spell(self, word: str) -> list[int]:
        """The ids of a word's subwords; a word that leaves none is one unknown subword."""
        found = self.tokenizer([word], is_split_into_words=True, add_special_tokens=False).input_ids
        return found or [self.tokenizer.unk_token_id]

    @cached_property
    def special_tokens(self) -> tuple[list[int], list[int]]:
        """The ids before and after a sentence: [CLS] and [SEP], or the like."""
        bare = self.tokenizer("a", add_special_tokens=False).input_ids
        whole = self.tokenizer("a").input_ids
        starts = (start for start in range(len(whole)) if whole[start : start + len(bare)] == bare)
        start = next(starts, None)
        if start is None:
            raise InputError("the encoder's tokenizer changes a word between its special tokens.")
        return whole[:start], whole[start + len(bare) :]

    @property
    def longest(self) -> int:
        """How many subwords the encoder reads at once, special tokens included."""
        positions = getattr(self.body, "max_position_embeddings", None) or LONGEST
        if self.body.model_type in ("roberta", "xlm-roberta", "camembert"):
            positions -= self.body.pad_token_id + 1  # they count positions from there
        return int(min(self.tokenizer.model_max_length, positions))

    @cached_property
    def hash(self) -> str:
        """The same for tokenizers that give the same subwords to encoders of the same shape."""
        shape = {key: value for key, value in sorted(self.body.to_dict().items()) if key not in UNIMPORTANT}
        return hashlib.sha256((self.tokenizer.backend_tokenizer.to_str() + repr(shape)).encode()).hexdigest()


def check_described(folder: Path) -> None:
    """Raise unless there is a pretrained encoder's configuration in the folder."""
    if not (folder / "config.json").is_file():
        raise CheckpointError(f"{folder} has no config.json: the parser's pretrained encoder is not described.")


UNIMPORTANT = ("_name_or_path", "transformers_version", "dtype", "torch_dtype")  # settings that change nothing computed


def load_transformers() -> Any:
    """The library, if it is installed. It is slow to import, so this is done where it is needed."""
    try:
        import transformers
    except ImportError:
        raise MissingExtraError("transformers", "encoder", "a pretrained encoder") from None
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    return transformers


def first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0].rstrip(".") + "."
