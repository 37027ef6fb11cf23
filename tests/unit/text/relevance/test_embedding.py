"""Embedding models: which files are read, what is refused, and what they change in a ranking."""

from __future__ import annotations

import importlib.util
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graph_research.providers.llm.base import ModelRequest
from graph_research.research.extractive.model import ExtractiveModel
from graph_research.text.document import Document
from graph_research.text.relevance.embedding import EmbedderUnusable, load_embedder
from graph_research.text.relevance.query import parse
from graph_research.text.relevance.ranking import Pool, rank
from tests.support.research.extractive_sources import written
from tests.support.research.topic_embedder import TopicEmbedder

DAM = Document("Salmon are rare here. The wall holds back water. A physician treats patients.")
DOCTOR = parse("Who was the doctor?")
TOPICS = TopicEmbedder("doctor physician", "wall dam", "salmon fish")


def test_a_unit_without_a_word_of_the_question_is_found_by_its_meaning() -> None:
    assert rank(Pool({"a": DAM}), DOCTOR) == []
    (found,) = rank(Pool({"a": DAM}, TOPICS), DOCTOR)
    assert found.unit.text == "A physician treats patients."


def test_an_embedder_that_finds_no_similarity_changes_nothing() -> None:
    question = parse("Are salmon rare?")
    assert rank(Pool({"a": DAM}, TopicEmbedder("absent")), question) == rank(Pool({"a": DAM}), question)


def test_nothing_is_loaded_where_no_embedding_model_is_named() -> None:
    code = (
        "import sys, graph_research.research.extractive.model as model; model.ExtractiveModel();"
        "print(sorted({'numpy', 'safetensors', 'tokenizers', 'wordllama'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


async def test_the_extractive_model_ranks_by_its_embedder() -> None:
    handoff = written(["The dam has seven towers. The dam has an old architect from the north and a gate."])
    handoff["question"] = "Who designed the dam?"

    async def first(model: ExtractiveModel) -> str:
        request = ModelRequest(agent="claim_extractor", role="research", system="", user="", material=handoff)
        return str(json.loads((await model.complete(request)).text)["claims"][0]["text"])

    assert await first(ExtractiveModel()) == "The dam has seven towers."
    assert (
        await first(ExtractiveModel(TopicEmbedder("designed architect")))
        == "The dam has an old architect from the north and a gate."
    )


@pytest.mark.skipif(importlib.util.find_spec("tokenizers") is not None, reason="the extra is installed")
def test_without_the_extra_the_refusal_says_what_to_install() -> None:
    with pytest.raises(EmbedderUnusable, match="embedding_model 'wordllama': needs the extra `embed`") as refused:
        load_embedder("wordllama")
    assert "pip install 'graph-research[embed]'" in refused.value.help


def model_in(folder: Path, **tables: Any) -> Path:
    """A model of four words with the given tables, or with one of two columns."""
    numpy = pytest.importorskip("numpy")
    save_file = pytest.importorskip("safetensors.numpy").save_file
    words = {"[UNK]": 0, "doctor": 1, "physician": 2, "salmon": 3}
    table = numpy.array([[0, 0], [3, 0], [4, 0], [0, 5]], dtype="float16")
    save_file(tables or {"embeddings": table}, folder / "model.safetensors")
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": words, "unk_token": "[UNK]"},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "tokenizer_config.json").write_text("{}")
    return folder


def test_a_vector_is_the_mean_of_a_texts_tokens_with_the_length_one(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    embedder = load_embedder(str(model_in(tmp_path)))
    doctor, both, unknown = embedder.vectors(["Doctor physician", "doctor salmon salmon", "water"])
    assert doctor == [1.0, 0.0]
    assert both == pytest.approx([3 / math.hypot(3, 10), 10 / math.hypot(3, 10)])
    assert unknown == [0.0, 0.0]


def test_what_holds_no_single_table_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    numpy = pytest.importorskip("numpy")
    model_in(tmp_path, embeddings=numpy.zeros((4, 2)), weights=numpy.zeros(4))
    with pytest.raises(EmbedderUnusable, match="something else than one table of vectors"):
        load_embedder(str(tmp_path))


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json"])
def test_a_damaged_file_is_refused_by_its_name(tmp_path: Path, file: str) -> None:
    pytest.importorskip("tokenizers")
    (model_in(tmp_path) / file).write_bytes(b"not a model")
    with pytest.raises(EmbedderUnusable, match=file):
        load_embedder(str(tmp_path))


@pytest.mark.parametrize("name", ["no_such_package", "no/such/folder", "json", "sys", "a.b"])
def test_a_name_that_is_neither_a_folder_nor_a_package_is_refused(name: str) -> None:
    pytest.importorskip("tokenizers")
    with pytest.raises(EmbedderUnusable, match="embedding_model"):
        load_embedder(name)


def test_wordllama_is_read_without_running_its_code_or_the_network() -> None:
    pytest.importorskip("tokenizers")
    if importlib.util.find_spec("wordllama") is None:
        pytest.skip("wordllama is not installed")
    embedder = load_embedder("wordllama")
    doctor, physician, salmon = embedder.vectors(["doctor", "physician", "salmon"])
    assert len(doctor) == 256
    assert sum(map(float.__mul__, doctor, physician)) > 2 * sum(map(float.__mul__, doctor, salmon))
    assert "wordllama" not in sys.modules
