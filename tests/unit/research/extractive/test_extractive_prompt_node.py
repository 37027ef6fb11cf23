"""What the extractive model fills in for a `prompt:` step of a user's own graph, and what it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graph_research.providers.errors import ProviderRefused
from graph_research.providers.llm.base import ModelRequest
from graph_research.research.extractive.model import ExtractiveModel

TEXT = (
    "# Aldbury canal\n\nThe Aldbury canal was opened in 1834 and is 21 kilometres long. The Aldbury canal has 17 "
    "locks. Volunteers keep the water in it, and no cargo has been carried since 1958.\n"
)
QUOTE = {"type": "object", "properties": {"quote": {}, "source_id": {}, "start": {}, "stance": {}, "value": {}}}


def schema(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(fields), "properties": fields}


async def answer(material: dict[str, Any], wanted: dict[str, Any] | None) -> dict[str, Any]:
    request = ModelRequest(agent="mine", role="research", system="", user="", schema=wanted, material=material)
    reply: dict[str, Any] = json.loads((await ExtractiveModel().complete(request)).text)
    return reply


async def test_a_question_is_answered_by_sentences_word_for_word() -> None:
    wanted = schema(answer={}, found={}, quotes={"items": QUOTE}, reason={})
    given = await answer({"question": "How many locks does the Aldbury canal have?", "text": TEXT}, wanted)
    assert given["answer"].startswith("The Aldbury canal has 17 locks.")
    assert given["found"] is True
    [quote] = given["quotes"]
    assert (quote["quote"], quote["source_id"], quote["value"]) == (given["answer"], "text", "17 locks")
    assert given["reason"].startswith("The best ranked")


async def test_what_the_text_does_not_say_is_not_found() -> None:
    wanted = schema(answer={}, found={}, quotes={"items": QUOTE})
    for question in ("Who painted the Mona Lisa?", "How many locks does the Brindle canal have?"):
        given = await answer({"question": question, "text": TEXT}, wanted)
        assert given == {"answer": "", "found": False, "quotes": []}


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("The Aldbury canal has 17 locks.", "supported"),
        ("The Aldbury canal has 18 locks.", "contradicted"),
        ("The Aldbury canal was opened in 1834.", "supported"),
        ("The Aldbury canal has no locks.", "not found"),
        ("Swans breed on the Aldbury canal.", "not found"),
    ],
)
async def test_a_claim_is_judged_in_the_words_of_the_schema(claim: str, verdict: str) -> None:
    wanted = schema(verdict={"enum": ["supported", "contradicted", "not found"]})
    assert await answer({"claim": claim, "text": TEXT}, wanted) == {"verdict": verdict}


async def test_only_the_fields_of_a_quote_that_the_schema_names_are_given() -> None:
    wanted = schema(quotes={"maxItems": 1, "items": {"properties": {"quote": {}}}})
    given = await answer({"claim": "The Aldbury canal has 17 locks.", "text": TEXT}, wanted)
    assert given == {"quotes": [{"quote": "The Aldbury canal has 17 locks."}]}


@pytest.mark.parametrize(
    ("earlier", "question", "text", "answered"),
    [
        (
            "How long is the Brindle canal?",
            "And how many locks does it have?",
            "The Aldbury canal has 17 locks. The Brindle canal has 9 locks.",
            "The Brindle canal has 9 locks.",
        ),
        (
            "Wie lang ist der Kanal von Brindle?",
            "Und wie viele Schleusen hat er?",
            "Der Kanal von Aldbury hat 17 Schleusen. Der Kanal von Brindle hat 9 Schleusen.",
            "Der Kanal von Brindle hat 9 Schleusen.",
        ),
        (
            "Quelle est la longueur du canal de Brindle ?",
            "Et combien d’écluses possède-t-il ?",
            "Le canal de Aldbury possède 17 écluses. Le canal de Brindle possède 9 écluses.",
            "Le canal de Brindle possède 9 écluses.",
        ),
        (
            "¿Qué longitud tiene el canal de Brindle?",
            "¿Y cuántas esclusas tiene?",
            "El canal de Aldbury tiene 17 esclusas. El canal de Brindle tiene 9 esclusas.",
            "El canal de Brindle tiene 9 esclusas.",
        ),
    ],
    ids=["en", "de", "fr", "es"],
)
async def test_a_follow_up_question_is_about_the_name_in_the_last_one(
    earlier: str, question: str, text: str, answered: str
) -> None:
    given = await answer({"question": question, "earlier": [earlier], "text": text}, schema(quotes={"items": QUOTE}))
    assert [quote["quote"] for quote in given["quotes"]][:1] == [answered]


async def test_a_follow_up_question_with_a_name_of_its_own_stands_alone() -> None:
    text = "Der Kanal von Aldbury hat 17 Schleusen. Der Kanal von Brindle hat 9 Schleusen."
    question = "Und wie viele Schleusen gibt es in Aldbury?"
    earlier = ["Wie lang ist der Kanal von Brindle?"]
    given = await answer({"question": question, "earlier": earlier, "text": text}, schema(quotes={"items": QUOTE}))
    assert given["quotes"][0]["quote"] == "Der Kanal von Aldbury hat 17 Schleusen."


@pytest.mark.parametrize(
    ("material", "wanted", "why"),
    [
        ({"question": "Why?", "text": TEXT}, None, "writes no prose"),
        ({"question": "Why?", "text": TEXT}, schema(title={}), "how to fill 'title'"),
        ({"question": "Why?"}, schema(answer={}), "neither sources nor a text"),
        ({"text": TEXT}, schema(answer={}), "neither a question nor a claim"),
        ({"question": "Why?", "sources": [{"id": "src-1"}]}, schema(answer={}), "neither sources nor a text"),
    ],
)
async def test_a_step_beyond_selection_is_refused_with_the_reason(
    material: dict[str, Any], wanted: dict[str, Any] | None, why: str
) -> None:
    with pytest.raises(ProviderRefused, match=why) as refused:
        await answer(material, wanted)
    assert "choose a language model" in refused.value.help
