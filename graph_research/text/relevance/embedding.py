"""Vectors of texts by an embedding model that the user names; its files are read from this machine, never fetched."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import mul
from pathlib import Path
from typing import Any, Protocol

from graph_research.errors import UserMistake, why_unreachable

_TABLES = "*.safetensors"
_TOKENIZERS = ("tokenizer.json", "*tokenizer*.json")
_UNRELATED = 0.3  # the cosine that texts about different things may have
_STATIC = "name a static embedding model, such as wordllama, or a folder that model2vec saved"


class EmbedderUnusable(UserMistake):
    """The setting `embedding_model` names a model that is not there or cannot be read, or the extra is missing."""

    def __init__(self, name: str, why: str, help: str) -> None:
        super().__init__(f"embedding_model {name[:200]!r}: {why}", help=help)


class Embedder(Protocol):
    """Turns texts into vectors of one length. The same text always gives the same vector."""

    def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector of length 1 for each text; all 0 for a text without anything that the model knows."""
        ...


def nearness(one: Sequence[float], others: Iterable[Sequence[float]]) -> list[float]:
    """How far the cosine of each vector with the first is above that of texts about different things, at least 0."""
    return [max(0.0, sum(map(mul, one, other)) - _UNRELATED) for other in others]


class StaticEmbedder:
    """The mean of the rows that a table has for a text's tokens: no network of layers, so it is fast."""

    def __init__(self, table: Any, token_ids: Callable[[str], list[int]]) -> None:
        self._table = table
        self._token_ids = token_ids

    def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        known = [number for number in self._token_ids(text) if number < len(self._table)]
        if not known:
            return [0.0] * int(self._table.shape[1])
        mean = self._table[known].mean(axis=0, dtype="float64")
        length = float((mean * mean).sum()) ** 0.5 or 1.0
        return [value / length for value in mean.tolist()]


@lru_cache(maxsize=1)
def load_embedder(name: str) -> Embedder:
    """The model in the folder `name`, or in the installed package of that name, whose code is not run.

    Its files are a table of vectors (`*.safetensors`) and a tokenizer (`tokenizer.json`, or a JSON file with
    `tokenizer` in its name), as model2vec saves them. Raises `EmbedderUnusable`.
    """
    try:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer
    except ImportError:
        raise EmbedderUnusable(
            name, "needs the extra `embed`", "pip install 'graph-research[embed]', or unset it"
        ) from None
    folder = _folder(name)
    table_file = _only(name, folder, _TABLES)
    tables = list(_read(name, table_file, load_file).values())
    if len(tables) != 1 or tables[0].ndim != 2:
        raise EmbedderUnusable(name, f"{table_file} holds something else than one table of vectors", _STATIC)
    tokenizer = _read(name, _only(name, folder, *_TOKENIZERS), Tokenizer.from_file)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return StaticEmbedder(tables[0], lambda text: tokenizer.encode(text, add_special_tokens=False).ids)


def _folder(name: str) -> Path:
    folder = Path(name).expanduser()
    if reason := why_unreachable(folder):
        raise EmbedderUnusable(name, reason, _STATIC)
    if folder.is_dir():
        return folder
    if name.isidentifier() and (package := importlib.util.find_spec(name)) and package.submodule_search_locations:
        return Path(next(iter(package.submodule_search_locations)))
    raise EmbedderUnusable(name, "there is no such folder or installed package", _STATIC)


def _only(name: str, folder: Path, *patterns: str) -> Path:
    """The file for the first pattern that exactly one fits."""
    for pattern in patterns:
        files = list(folder.rglob(pattern))
        if len(files) == 1:
            return files[0]
    raise EmbedderUnusable(name, f"{folder} does not have exactly one file {patterns[-1]}", _STATIC)


def _read(name: str, file: Path, reader: Callable[[str], Any]) -> Any:
    try:
        return reader(str(file))
    except Exception as error:  # noqa: BLE001 -- the tokenizer's reader raises nothing narrower
        raise EmbedderUnusable(name, f"{file} cannot be read: {error}", _STATIC) from None
