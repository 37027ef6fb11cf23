"""The form of a digest: its schema, its limits, and the way to the text of a source and back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graph_research.app.definitions import schema_resolver
from graph_research.graph.errors import HandoffInvalid
from graph_research.graph.values.json_schema import Contract
from graph_research.research.digest.payload import (
    deserialize_payload,
    make_payload,
    query_hash,
    rendered,
    serialize_payload,
)
from graph_research.research.models.digest import DigestPayload, EvidenceSnippet
from graph_research.text.document import text_hash

HASH = text_hash("The gates were renewed in 2019.")
SNIPPET = EvidenceSnippet(text="The gates were renewed in 2019.", locator="char:0-31", relevance_score=0.63)


def payload(**changes: Any) -> DigestPayload:
    given: dict[str, Any] = {
        "question": "When were the gates renewed?",
        "original_chars": 20_000,
        "source_text_hash": HASH,
        **changes,
    }
    return make_payload("The gates are new.", ["Renewed in 2019."], [SNIPPET], **given)


@pytest.mark.requirement("11.7", "23.1")
def test_a_digest_fits_its_schema_and_is_read_back_as_it_was() -> None:
    schema = json.loads((schema_resolver().find("digest") or ("", ""))[0])
    text = serialize_payload(payload())
    Contract(schema, "digest").check(json.loads(text), "test")
    assert deserialize_payload(text) == payload()
    assert set(json.loads(text)) == set(schema["required"])
    assert len(schema["required"]) == 10


@pytest.mark.requirement("11.7")
def test_a_digest_has_the_first_ten_key_points() -> None:
    points = [f"Point {number}." for number in range(12)]
    made = make_payload("Short.", points, [], question="When?", original_chars=20_000, source_text_hash=HASH)
    assert deserialize_payload(serialize_payload(made)) == made
    assert made.key_points == points[:10]


@pytest.mark.requirement("11.7", "23.1")
@pytest.mark.parametrize(
    "change",
    [
        {"version": "2.0"},
        {"content_type": "text/plain"},
        {"query_hash": "XYZ"},
        {"summary": "x" * 2_001},
        {"key_points": ["x"] * 11},
        {"key_points": ["x" * 501]},
        {"evidence_snippets": [{"text": "x" * 501, "locator": "char:0-501", "relevance_score": 0.1}]},
        {"evidence_snippets": [{"text": "x", "locator": "char:0-1", "relevance_score": 1.1}]},
        {"evidence_snippets": [{"text": "x", "locator": "line 4", "relevance_score": 0.1}]},
        {"original_chars": -1},
        {"compression_ratio": 1.5},
        {"source_text_hash": "sha256:12"},
        {"summary": None},
    ],
)
def test_what_does_not_fit_is_refused_by_schema_and_reader(change: dict[str, Any]) -> None:
    schema = json.loads((schema_resolver().find("digest") or ("", ""))[0])
    wrong = {**payload().to_json(), **change}
    with pytest.raises(HandoffInvalid):
        Contract(schema, "digest").check(wrong, "test")
    assert deserialize_payload(json.dumps(wrong)) is None


@pytest.mark.parametrize("text", [None, "", "not JSON", "[]", "{}", '{"version": "1.0"}'])
def test_a_content_without_a_digest_reads_as_none(text: str | None) -> None:
    assert deserialize_payload(text) is None


def test_what_is_too_long_loses_its_end_but_no_snippet_is_changed() -> None:
    long = make_payload(
        "word " * 900, ["point " * 200] * 12, [SNIPPET], question="q", original_chars=90_000, source_text_hash=HASH
    )
    assert len(long.summary) <= 2_000
    assert long.summary.endswith("…")
    assert len(long.key_points) == 10
    assert all(len(point) <= 500 for point in long.key_points)
    assert long.evidence_snippets == [SNIPPET]


@pytest.mark.requirement("11.7", "B12")
def test_the_characters_of_a_digest_are_those_of_its_parts() -> None:
    made = payload()
    assert made.digest_chars == len("The gates are new.") + len("Renewed in 2019.") + len(SNIPPET.text)
    assert made.compression_ratio == round(made.digest_chars / 20_000, 4)
    assert payload(original_chars=1).compression_ratio == 1.0


@pytest.mark.requirement("11.6")
def test_a_digest_is_at_most_half_as_long_as_its_text() -> None:
    snippets = [SNIPPET.model_copy(update={"text": "x" * 400})] * 5
    wordy = make_payload(
        "word " * 900, ["point " * 200] * 12, snippets, question="q", original_chars=10_001, source_text_hash=HASH
    )
    assert wordy.key_points
    assert wordy.digest_chars <= 5_000
    assert wordy.compression_ratio <= 0.5


def test_the_hash_of_a_question_ignores_white_space_only() -> None:
    assert query_hash("When  were\nthe gates renewed?") == query_hash("When were the gates renewed?")
    assert query_hash("When were the gates renewed?") != query_hash("Why were the gates renewed?")
    assert len(query_hash("")) == 8


@pytest.mark.requirement("11.9")
def test_a_prompt_shows_which_words_can_be_quoted() -> None:
    told = rendered(payload())
    assert told.index("not to be quoted: The gates are new.") < told.index("word for word")
    assert SNIPPET.text in told
    quoted = rendered(payload(), to_quote=True)
    assert quoted.index(SNIPPET.text) < quoted.index("The gates are new.")
