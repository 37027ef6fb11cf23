"""Sentences fit to be quoted on their own, cut out of a document's prose with their exact place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from graph_research.text.document import Block, Document
from graph_research.text.language.lexicon import (
    ANAPHORIC_OPENERS,
    ASIDE_OPENERS,
    AUXILIARIES,
    BOILERPLATE_WORDS,
    COMMAND_VERBS,
    FUNCTION_WORDS,
    IMPERATIVE_OPENERS,
    VERBS,
    word_set,
)
from graph_research.text.language.stems import stem, stem_list, words
from graph_research.text.sentences import sentence_spans

_FEWEST_WORDS = 6
_MOST_WORDS = 45
_MOST_WORDS_WITH_PREDECESSOR = 50
_PROSE = frozenset({"paragraph", "item", "quote"})
_ENDS = re.compile(r"[.!][\"”’')\]]*$")
_REFERENCES_AT_END = re.compile(r"(?:\s?\[\w{1,4}\])+$")
_REFERENCE_INSIDE = re.compile(r"\[\d{1,3}\]|\[(?:citation needed|edit|note \d+)\]")
_RESIDUE = re.compile(r"[¶§|{}<>\\=•►▲→←↑@#*~^_`]{1}(?<!_)|>>>|\.\.\.|…|::|https?://|www\.|\S{40,}|�|__\w+__\s__")
_METADATA = re.compile(
    r"^(?:(?:changed|new|deprecated|added|removed) in version|posted (?:on|by)|published|updated|"
    r"last (?:updated|edited|modified)|source code|photo|image|figure \d|table \d|copyright|©|all rights|tags?:|"
    r"note:?\s?$|see also|example:|references?\b|doi\b|isbn|author|accepted|received)",
    re.IGNORECASE,
)
_POINTS_ELSEWHERE = re.compile(
    r"\b(?:this|these)\s(?:method|function|class|module|attribute|object|parameter|argument|flag|option|"
    r"section|page|chapter|document|article|paper|report|table|example|site|notice|book|"
    r"tutorial|guide)s?\b|\b(?:previous|next|following|preceding)\s(?:paragraph|section|example|chapter|"
    r"page|table|figure|list|code|sentence)s?\b|\bas\sfollows\b|\bin\sa\ssimilar\s(?:fashion|way|manner)\b|\b(?:see|described|mentioned|shown|listed|noted)\s"
    r"(?:above|below|here)\b|\((?:see\s)?(?:above|below)\)",
    re.IGNORECASE,
)
_EARLY_POINTERS = word_set("it they them he she him its their such this these those")
_EARLY = 5
_LEADS_IN = word_set("in on by according from as with")
_BYLINE = re.compile(r"^[A-Z]\w+:\s|^By (?:[A-Z]\w+[ ,.]+){2}")
_ORDINAL_ANAPHOR = re.compile(
    r"^(?:the|a)\s(?:(?:first|second|third|fourth|last)(?!\stime)(?!\s[a-z]+(?<!s)\s[a-z]+(?<!s)\s[a-z]{3,}ed\s)|latter|former|other|others|same|above|following|next|previous|"
    r"resulting|remaining|rest|reason|result|answer|latest|more|fewer)\b|^(?:one|some|many|most|several|none|all|each|"
    r"any|two|three|four|few)\s(?:of\s(?:them|these|those|which|the\sother))\b|^(?:in|for|to|by|at|on|as|with|under|"
    r"from|after|before|since|during|of|because of|due to|despite|unlike)\s(?:this|that|these|those|such|it|them|both|"
    r"the\ssame|addition|contrast|other\swords|example|instance|particular|a\sresult|fact|turn|the\slatter|short)\b|"
    r"^(?:it|they|he|she|we|you|i)['’]|^(?:what|how)\s|^(?:as|like)\s(?:above|before|such)\b|"
    r"^(?:for example|that is)\b|^the\s(?:method|function|class|argument|parameter|attribute|module|option|constructor|"
    r"default|condition|value|object|instance|call|caller|signature)\s",
    re.IGNORECASE,
)
_LISTS_OF_WORKS = frozenset({"references", "bibliography", "further reading", "external links", "see also", "sources"})
_NOT_FINITE = word_set("being been be having doing read use run set put cut hit let")
_FINITE = (AUXILIARIES | VERBS) - _NOT_FINITE
_LIKE_A_VERB = re.compile(
    r"\b(?:[A-Za-z]+\s[a-z]{2,}ed|(?!(?:of|the|an?|in|on|at|by|for|from|with|and|or|to)\s)[A-Za-z]*[^s\W]\s[a-z]{2,}(?<!s)s)\s(?:\d|(?:the|an?|to|in|on|at|by|for|from|with|of|"
    r"and|into|up|out|down|than|as|that|its|their|more|less|all|each|every)\b)"
)
_BOILERPLATE = re.compile(rf"\b(?:{'|'.join(sorted(BOILERPLATE_WORDS))})\b", re.IGNORECASE)
_NEITHER_LETTER_NOR_SPACE = re.compile(r"[\W\d_](?<! )")
_CAPITAL = re.compile(r"[A-ZÀ-Þ]")
_CAPITALS = re.compile(r"\b[A-Z]{2,}(?:\s[A-Z]{2,}){2,}\b")
_AFTER_A_NOUN = word_set("of in on for is was has had are were and")
_ARTICLES = word_set("a an the")
_AFTER_A_VERB = word_set(
    "a an the this that these those all any each every its your it up until for to from if whether and only one "
    "sure back care more another as with"
)
_VERB_STEMS = frozenset(stem(verb) for verb in COMMAND_VERBS | VERBS)
_AFTER_A_PREDICATE = word_set("a an the this all any each true false none when if whether how its whenever")
_NUMBERING = re.compile(
    r"^(?:(?:chapter|section|part|appendix)\s)?(?:[0-9IVX]+[.):]?)(?:\d+[.)]?)*\s+(?=\S)", re.IGNORECASE
)


@dataclass(frozen=True)
class Sentence:
    """One sentence, or two where the second needs the first: `document.text[start:end] == text`.

    `heading` is the nearest one above it, `title` the document's.
    """

    source_id: str
    start: int
    end: int
    text: str
    heading: str = ""
    title: str = ""

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """Stems of the content words in order."""
        return tuple(stem_list(self.text))

    @cached_property
    def stem_set(self) -> frozenset[str]:
        return frozenset(self.stems)

    @cached_property
    def frame_stems(self) -> frozenset[str]:
        """Stems of the heading and title that the sentence stands under."""
        return frozenset(stem_list(f"{self.heading} {self.title}"))


@lru_cache(maxsize=64)
def quotable_sentences(source_id: str, document: Document) -> tuple[Sentence, ...]:
    """The quotable sentences in the document's order; none from headings, tables, code and boilerplate.

    Left out are those under 6 or over 45 words, unfinished ones, questions, calls to click or subscribe, and those
    that lean on a sentence which is not there. Of a document whose sentences mostly speak of cookies, privacy or
    newsletters nothing is taken.
    """
    title = _document_title(document)
    found: list[Sentence] = []
    heading = ""
    for block in document.blocks:
        if block.kind == "heading":
            heading = clean_heading(document.text[block.start : block.end])
        elif block.kind in _PROSE and heading.lower() not in _LISTS_OF_WORKS:
            found += [
                Sentence(source_id, start, end, document.text[start:end], heading, title)
                for start, end in _quotable(document.text, block)
            ]
    boilerplate = sum(1 for passage in found if _is_boilerplate(passage.text))
    return () if boilerplate * 4 > len(found) else tuple(p for p in found if not _is_boilerplate(p.text))


def clean_heading(text: str) -> str:
    """A heading without its number, paragraph mark and closing punctuation."""
    bare = _NUMBERING.sub("", text.replace("¶", "").strip().strip("#").strip()).strip(" .:–—-")
    return bare.capitalize() if bare.isupper() and len(bare) > 5 else bare


def _document_title(document: Document) -> str:
    title = document.title or next(
        (document.text[block.start : block.end] for block in document.blocks if block.kind == "heading"), ""
    )
    return re.split(r"\s[|–—-]\s", clean_heading(title))[0]


def _quotable(text: str, block: Block) -> Iterator[tuple[int, int]]:
    previous: tuple[int, int] | None = None
    for start, end in _trimmed(text, block):
        sentence = text[start:end]
        sound = _is_sound(sentence)
        if sound and not _leans_back(sentence):
            if _FEWEST_WORDS <= len(words(sentence)) <= _MOST_WORDS:
                yield start, end
            previous = (start, end)
        elif sound and previous and not text[previous[1] : start].strip():
            both = len(words(text[previous[0] : end]))
            if len(words(sentence)) >= _FEWEST_WORDS and both <= _MOST_WORDS_WITH_PREDECESSOR:
                yield previous[0], end
            previous = None
        else:
            previous = None


def _trimmed(text: str, block: Block) -> Iterator[tuple[int, int]]:
    for start, end in sentence_spans(text, block.start, block.end):
        end -= len(text[start:end]) - len(_REFERENCES_AT_END.sub("", text[start:end]))
        if end > start:
            yield start, end


def _is_sound(sentence: str) -> bool:
    """A finished, plain sentence: no question, fragment, call to act, residue of code or markup."""
    first = words(sentence[:80])
    if not first or not _ENDS.search(sentence) or not re.match(r"[\"“‘'(]?[A-Z0-9À-Þ]", sentence):
        return False
    if (
        _CAPITALS.search(sentence)
        or _METADATA.search(sentence)
        or _BYLINE.match(sentence)
        or _POINTS_ELSEWHERE.search(sentence)
        or _RESIDUE.search(sentence)
        or _REFERENCE_INSIDE.search(sentence)
    ):
        return False
    if _is_command(first) or (first[0].lower() in _ARTICLES and not _has_verb(sentence)):
        return False
    balanced = (
        all(sentence.count(a) == sentence.count(b) for a, b in ("()", "[]", "“”")) and not sentence.count('"') % 2
    )
    letters = len(sentence) - len(_NEITHER_LETTER_NOR_SPACE.findall(sentence))
    capitals = len(_CAPITAL.findall(sentence))
    return balanced and letters >= 0.8 * len(sentence) and capitals <= 0.35 * len(sentence)


def _is_command(first: list[str]) -> bool:
    """ "Subscribe now", "Return the loop": a call to the reader, or a manual's line whose subject stands elsewhere."""
    opener, follower = first[0].lower(), first[1].lower() if len(first) > 1 else ""
    if opener in IMPERATIVE_OPENERS and follower not in _AFTER_A_NOUN:
        return True
    if opener in COMMAND_VERBS and follower in _AFTER_A_VERB:
        return True
    if follower in _ARTICLES and opener not in FUNCTION_WORDS and not opener.endswith(("ing", "ed")):
        return True
    inflected = opener.endswith(("s", "ed")) and stem(opener) in _VERB_STEMS
    return inflected and (opener == "added" or follower in _AFTER_A_PREDICATE or follower.endswith("ing"))


def _has_verb(sentence: str) -> bool:
    """Whether a noun phrase goes on to say something: an auxiliary, a known verb, or a word with a verb's ending."""
    return bool(_LIKE_A_VERB.search(sentence)) or any(word.lower() in _FINITE for word in words(sentence))


def _leans_back(sentence: str) -> bool:
    """Whether the sentence opens with a word that points at the one before it."""
    first = [word.lower() for word in words(sentence[:80])]
    if first[0] in ASIDE_OPENERS:
        first = first[1:]
        sentence = sentence.partition(" ")[2]
        return True if not first or "," in sentence[:1] else _opens_anaphoric(first, sentence)
    return _opens_anaphoric(first, sentence)


def _opens_anaphoric(first: list[str], sentence: str) -> bool:
    if not _EARLY_POINTERS.isdisjoint(first[1:_EARLY]) and first[0] not in _LEADS_IN:
        return True
    return bool(first and first[0].split("'")[0].split("’")[0] in ANAPHORIC_OPENERS) or bool(
        _ORDINAL_ANAPHOR.match(sentence)
    )


def _is_boilerplate(sentence: str) -> bool:
    return bool(_BOILERPLATE.search(sentence))
