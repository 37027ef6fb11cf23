"""The answer to a `prompt:` step of a user's own graph, as far as selecting sentences can give it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graph_research.providers.errors import ProviderRefused
from graph_research.research.extractive.selection import Selected, Selection, select_answer, select_for_claim
from graph_research.research.models.source import Source, Tier
from graph_research.text.document import Document, text_hash
from graph_research.text.readers.plain import plain_document

_TEXT_ID = "text"
_VERDICTS = frozenset({"supported", "contradicted", "disputed", "not_found"})
_FIELDS_HELP = (
    "without a language model a step can fill the fields quotes, answer, found, verdict and reason, from a handoff "
    "with a question or a claim, and sources or a text; choose a language model for anything else"
)


def answer(agent: str, material: Mapping[str, Any], schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Fill the fields of `schema` that selection can fill, from `claim` or `question` and `sources` or `text`.

    `quotes` are objects of `source_id`, `quote`, `start`, `stance` (`supports` or `contradicts`) and `value`, those
    of them that the schema names; `answer` is sentences word for word; `found` is whether there are any; `verdict`
    is one of `supported`, `contradicted`, `disputed`, `not_found`; `reason` says how the sentences were chosen.
    Raises `ProviderRefused` for any other required field, and for a handoff that lacks what selection reads.
    """
    if schema is None:
        raise _refused(agent, "it writes no prose")
    properties: Mapping[str, Any] = schema.get("properties") or {}
    unknown = [name for name in schema.get("required") or () if name not in _FIELDS]
    if unknown or not any(name in _FIELDS for name in properties):
        raise _refused(
            agent, f"it does not know how to fill {', '.join(map(repr, unknown or properties)) or 'nothing'}"
        )
    selection = _selection(agent, material)
    return {name: fill(selection, properties[name]) for name, fill in _FIELDS.items() if name in properties}


def _selection(agent: str, material: Mapping[str, Any]) -> Selection:
    read = _readable(material)
    if read is None:
        raise _refused(agent, "its handoff holds neither sources nor a text")
    claim, question = material.get("claim"), material.get("question")
    if isinstance(claim, str) and claim.strip():
        return select_for_claim(claim, read)
    if isinstance(question, str) and question.strip():
        earlier = material.get("earlier")
        return select_answer(question, [str(one) for one in earlier] if isinstance(earlier, list) else [], read)
    raise _refused(agent, "its handoff holds neither a question nor a claim")


def _readable(material: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """`sources` and `documents` as the analyzer reads them; a plain `text` is a source of the id `text`."""
    text = material.get("text")
    if isinstance(text, str) and text.strip():
        document = plain_document(text)
        source = Source(id=_TEXT_ID, title=document.title, tier=Tier.SECONDARY, archive_hash=text_hash(document.text))
        return {**material, "sources": [source.to_json()], "documents": {_TEXT_ID: document}}
    rows = material.get("sources")
    if not isinstance(rows, list):
        return None
    documents: Mapping[str, Document] = material.get("documents") or {}
    known = [row for row in rows if isinstance(row, Mapping) and row.get("id") in documents]
    return {**material, "sources": known, "documents": documents} if known or not rows else None


def _quotes(selection: Selection, schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    items = schema.get("items")
    wanted: Mapping[str, Any] = (items.get("properties") if isinstance(items, Mapping) else None) or {}
    most = schema.get("maxItems")
    return [_quote(one, wanted) for one in selection.quotes[:most]]


def _quote(one: Selected, wanted: Mapping[str, Any]) -> dict[str, Any]:
    whole = {
        "source_id": one.source_id,
        "quote": one.text,
        "start": one.start,
        "stance": one.stance,
        "value": one.value,
    }
    return {name: value for name, value in whole.items() if name in wanted}


def _verdict(selection: Selection, schema: Mapping[str, Any]) -> str:
    """In the spelling of the schema's `enum`; a dispute is what its first quote says where there is no such word."""
    spelled = {_plain(word): word for word in schema.get("enum") or _VERDICTS}
    found = selection.verdict
    if found == "disputed" and found not in spelled:
        found = "supported" if selection.quotes[0].stance == "supports" else "contradicted"
    return str(spelled.get(found, found))


def _plain(word: Any) -> str:
    return str(word).lower().replace(" ", "_").replace("-", "_")


def _joined(leads: Sequence[Selected]) -> str:
    return " ".join(lead.text for lead in leads)


_FIELDS: Mapping[str, Callable[[Selection, Mapping[str, Any]], Any]] = {
    "quotes": _quotes,
    "answer": lambda selection, _: _joined(selection.leads),
    "found": lambda selection, _: bool(selection.leads),
    "verdict": _verdict,
    "reason": lambda selection, _: selection.why,
}


def _refused(agent: str, why: str) -> ProviderRefused:
    return ProviderRefused(
        f"the model `extractive` cannot answer the step {agent!r}: {why}", provider="extractive", help=_FIELDS_HELP
    )
