"""The answer to a `prompt:` step of a user's own graph, as far as selecting sentences can give it: those that answer a
question, or that bear on a claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from graph_research.providers.errors import ProviderRefused
from graph_research.research.extractive.analysis import Analysis, Group, Quote, analyze
from graph_research.research.extractive.analyzer import opposing
from graph_research.research.extractive.short_answer import short_answer
from graph_research.research.models.source import Source, Tier
from graph_research.text.document import Document, text_hash
from graph_research.text.language.opposites import CAPITALISED_NOUNS
from graph_research.text.language.quantities import Value
from graph_research.text.language.questions import points_back
from graph_research.text.language.words import MOST_WEIGHT, language_of, terms, weight, words
from graph_research.text.readers.plain import plain_document
from graph_research.text.relevance.conflicts import contrary_value
from graph_research.text.relevance.query import Query, parse
from graph_research.text.relevance.statements import SourceSentence, statements
from graph_research.text.relevance.support import SUPPORTED, support
from graph_research.text.wording import counted

_MOST_OF_A_SIDE = 3
_MOST_OTHERS = 2
_STATED = 0.9
_TEXT_ID = "text"
_VERDICTS = frozenset({"supported", "contradicted", "disputed", "not_found"})
_FIELDS_HELP = (
    "without a language model a step can fill the fields quotes, answer, found, verdict and reason, from a handoff "
    "with a question or a claim, and sources or a text; choose a language model for anything else"
)


@dataclass(frozen=True, kw_only=True)
class Selected:
    """A sentence of a source, word for word. `value` is the number or date in it that is asked for, "" for none."""

    source_id: str
    quote: str
    start: int
    stance: Literal["supports", "contradicts"] = "supports"
    value: str = ""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """`leads` are the sentences that answer, `quotes` all that bear on what was asked, `why` says how they were
    chosen; both are empty where no source says anything about it."""

    leads: Sequence[Selected]
    quotes: Sequence[Selected]
    why: str

    @property
    def verdict(self) -> str:
        """`supported`, `contradicted`, `disputed` or `not_found`."""
        stances = {quote.stance for quote in self.quotes}
        if len(stances) == 2:
            return "disputed"
        return {"supports": "supported", "contradicts": "contradicted"}[stances.pop()] if stances else "not_found"


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
        return _select_for_claim(claim, read)
    if isinstance(question, str) and question.strip():
        earlier = material.get("earlier")
        return _select_answer(question, [str(one) for one in earlier] if isinstance(earlier, list) else [], read)
    raise _refused(agent, "its handoff holds neither a question nor a claim")


def _select_answer(question: str, earlier: Sequence[str], material: Mapping[str, Any]) -> Selection:
    """The short answer to `question`, who else says so, and who says otherwise.

    A question that points back ("and how much did it cost?") is read with the name in the last of the `earlier` ones.
    """
    analysis = analyze(material, _in_context(question, earlier))
    groups = _one_for_each_part(short_answer(analysis))
    if not groups:
        return Selection(leads=(), quotes=(), why=f"No sentence of {_sources(analysis)} answers the question.")
    leads = [_selected(group.lead, question) for group in groups]
    others = [_selected(quote, question) for group in groups for quote in group.others[:_MOST_OTHERS]]
    against = [
        _contrary(value, sentence) for group in groups for value, sentence in opposing(group, analysis.conflicts)
    ]
    chosen = f"The best ranked of the sentences in {_sources(analysis)}, word for word"
    why = f"{chosen}; {counted(len(against), 'sentence')} on the other side." if against else f"{chosen}."
    distinct = {(quote.source_id, quote.start): quote for quote in reversed([*leads, *others, *against])}
    return Selection(leads=leads, quotes=list(reversed(distinct.values())), why=why)


def _select_for_claim(claim: str, material: Mapping[str, Any]) -> Selection:
    """Sentences whose words support the claim, and sentences that give another value for the same thing."""
    analysis = analyze(material, claim)
    text, documents = " ".join(claim.split()), material["documents"]
    stating: dict[str, Selected] = {}
    differing: dict[str, Selected] = {}
    for quote in [quote for group in analysis.groups for quote in group.quotes]:
        found = SourceSentence.at(quote.source_id, documents[quote.source_id], quote.start, quote.end)
        if (value := contrary_value(SourceSentence.of_text(text), found)) is not None:
            differing.setdefault(quote.source_id, _contrary(value, found))
        elif _states(quote.text, claim):
            stating.setdefault(quote.source_id, _selected(quote, claim))
    quotes = [*list(stating.values())[:_MOST_OF_A_SIDE], *list(differing.values())[:_MOST_OF_A_SIDE]]
    why = (
        f"In {_sources(analysis)}: {counted(len(stating), 'sentence')} stating the claim, "
        f"{len(differing)} giving another value."
    )
    return Selection(leads=quotes[:1], quotes=quotes, why=why)


def _one_for_each_part(groups: Sequence[Group]) -> list[Group]:
    """The first group of each part of the question: one answer to each thing that a step asks."""
    return list({group.lead.part: group for group in reversed(groups)}.values())[::-1]


def _in_context(question: str, earlier: Sequence[str]) -> str:
    query = parse(question)
    if _has_a_name(query) or not points_back(question, query.language):
        return question
    named = next((names for asked in reversed(earlier) if (names := parse(asked).names)), None)
    return f"{named[0]}: {question}" if named else question


def _has_a_name(query: Query) -> bool:
    """Whether a question names something; where nouns have a capital letter too, by one of the rarest words."""
    least = MOST_WEIGHT if query.language in CAPITALISED_NOUNS else 0.0
    return any(weight(word, query.language) >= least for name in query.names for word in name.split())


def _states(text: str, claim: str) -> bool:
    """Whether a sentence has nearly all words of the claim, and nothing in it tells against the claim."""
    found = support(claim, [text])
    return found.score >= SUPPORTED and found.features["coverage"] >= _STATED


def _contrary(value: str, sentence: SourceSentence) -> Selected:
    return Selected(
        source_id=sentence.source_id, quote=sentence.text, start=sentence.start, stance="contradicts", value=value
    )


def _selected(quote: Quote, question: str) -> Selected:
    return Selected(source_id=quote.source_id, quote=quote.text, start=quote.start, value=_value(quote.text, question))


def _value(text: str, question: str) -> str:
    """The value in a sentence nearest to the words that it shares with the question, but those of names."""
    query, language = parse(question), language_of(text)
    named = set(terms(" ".join((*query.names, query.subject)), language))
    asked = query.weights(language).keys() - named
    places = [word.start for word in words(text, language) if word.term in asked]
    found = statements(SourceSentence.of_text(text))
    best = min(found, key=lambda statement: _distance(statement.value, places), default=None)
    return best.written.strip() if best else ""


def _distance(value: Value, places: Sequence[int]) -> int:
    return min((max(value.start - place, place - value.end, 0) for place in places), default=0)


def _sources(analysis: Analysis) -> str:
    return counted(len(analysis.sources), "source")


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
    quotes = map(asdict, selection.quotes[: schema.get("maxItems")])
    return [{name: value for name, value in quote.items() if name in wanted} for quote in quotes]


def _verdict(selection: Selection, schema: Mapping[str, Any]) -> str:
    """In the spelling of the schema's `enum`; a dispute is what its first quote says where there is no such word."""
    words = schema.get("enum") or _VERDICTS
    spelled = {str(word).lower().replace(" ", "_").replace("-", "_"): word for word in words}
    found = selection.verdict
    if found == "disputed" and found not in spelled:
        found = "supported" if selection.quotes[0].stance == "supports" else "contradicted"
    return str(spelled.get(found, found))


_FIELDS: Mapping[str, Callable[[Selection, Mapping[str, Any]], Any]] = {
    "quotes": _quotes,
    "answer": lambda selection, _: " ".join(lead.quote for lead in selection.leads),
    "found": lambda selection, _: bool(selection.leads),
    "verdict": _verdict,
    "reason": lambda selection, _: selection.why,
}


def _refused(agent: str, why: str) -> ProviderRefused:
    return ProviderRefused(
        f"the model `extractive` cannot answer the step {agent!r}: {why}", provider="extractive", help=_FIELDS_HELP
    )
