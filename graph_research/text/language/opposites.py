"""Words that turn or bind a statement: what denies, compares or limits it, by language; in English what counts."""

from __future__ import annotations

import re
from functools import cache

from graph_research.text.language.words import stem

_WORDS = re.compile(r"\w+")

NEGATIONS = {
    language: frozenset(listed.split())
    for language, listed in {
        "de": "nicht kein keine keinen keinem keiner nie niemals ohne weder niemand nichts",
        "en": "no not t never neither nor without none nobody nothing cannot fail fails failed failing lack lacks "
        "lacked lacking unable absence absent",
        "es": "no nunca jamás sin ni ningún ninguna ninguno nadie nada tampoco",
        "fr": "ne n pas jamais sans aucun aucune ni personne rien",
        "it": "non no mai senza né nessun nessuna nessuno niente nulla neppure",
        "ja": "ない なか ませ",
        "nl": "niet geen nooit zonder noch niemand niets",
        "pl": "nie bez nigdy żaden żadna żadne nikt nic ani",
        "pt": "não nunca jamais sem nem nenhum nenhuma ninguém nada",
        "zh": "不 没 未 无",
    }.items()
}
"""Words that deny what stands beside them; Japanese and Chinese by the pairs of characters that they begin with."""

_ABSOLUTE = {
    language: frozenset(listed.split())
    for language, listed in {
        "de": "nie niemals kein keine keinen keinem keiner keines niemand nichts immer stets alle allen aller alles "
        "jeder jede jedes jeden jedem nur ausschließlich allein unabhängig ungeachtet egal unmöglich völlig",
        "en": "never no none nothing nobody neither cannot impossible always all every any only solely exclusively "
        "entirely completely whatever whichever regardless irrespective",
        "es": "nunca jamás ningún ninguna ninguno nadie nada siempre todo toda todos todas cualquier solo sólo "
        "solamente únicamente exclusivamente imposible independientemente",
        "fr": "jamais aucun aucune personne rien toujours tout toute tous toutes chaque quelconque seulement "
        "uniquement seul seule exclusivement impossible indépendamment",
        "it": "mai nessun nessuna nessuno niente nulla sempre tutto tutta tutti tutte ogni qualsiasi qualunque "
        "solo soltanto solamente esclusivamente impossibile indipendentemente",
        "nl": "nooit geen niemand niets altijd alle alles elke elk ieder iedere alleen slechts uitsluitend ongeacht "
        "onmogelijk",
        "pl": "nigdy żaden żadna żadne nikt nic zawsze wszystkie wszyscy wszystko każdy każda każde tylko wyłącznie "
        "jedynie niezależnie niemożliwe",
        "pt": "nunca jamais nenhum nenhuma ninguém nada sempre todo toda todos todas qualquer só somente apenas "
        "unicamente exclusivamente impossível independentemente",
    }.items()
}
_ABSOLUTE_STRETCHES = {
    "ja": ("決して", "常に", "必ず", "すべて", "全て", "のみ", "だけ", "かかわらず", "ことはない", "一切"),
    "zh": (
        "从不",
        "永不",
        "绝不",
        "从未",
        "总是",
        "始终",
        "所有",
        "任何",
        "每",
        "只有",
        "仅",
        "无论",
        "不管",
        "不能",
        "一切",
    ),
}
"""Of languages without spaces between words."""


def is_absolute(text: str, language: str) -> bool:
    """Whether a text denies something altogether, or says it of all cases or of one only: one exception makes it
    wrong. In a language that is not listed no text is."""
    if language in _ABSOLUTE_STRETCHES:
        return any(stretch in text for stretch in _ABSOLUTE_STRETCHES[language])
    return not _ABSOLUTE.get(language, frozenset()).isdisjoint(_WORDS.findall(text.lower()))


CAPITALISED_NOUNS = frozenset({"de"})
"""Languages in which a capital letter does not tell a name."""

TURNING = {
    language: frozenset(listed.split())
    for language, listed in {
        "de": "von durch der des",
        "en": "by of",
        "es": "por de",
        "fr": "par de",
        "it": "da di",
        "nl": "door van",
        "pt": "por de",
    }.items()
}
"""Words that let the roles beside a verb or a noun change places: "B was bought by A", "the capital of B"."""

COMPARING = {
    language: frozenset(listed.split())
    for language, listed in {
        "de": "als vor nach",
        "en": "than befor after",
        "es": "que antes despues",
        "fr": "avant apres",
    }.items()
}
"""Stems of words whose two sides may not change places: "A opened before B"."""

SCOPES = {
    language: frozenset(listed.split())
    for language, listed in {
        "de": "je pro jeder jede jedes jährlich täglich monatlich durchschnittlich mittlere geplant geplante geplanten "
        "erwartet vorgesehen soll sollte würde könnte netto brutto einschließlich",
        "en": "each every per annual annually yearly daily monthly weekly hourly average mean median maximum minimum "
        "peak net gross planned plans plan scheduled expected proposed projected projection target targeted forecast "
        "predicted would could might may should will shall aim intended assumed originally initially goal hoped denied "
        "if excluding including except second third another compared versus instead than",
        "es": "cada por anual diario mensual promedio medio mediana máximo mínimo neto bruto previsto salvo incluido",
        "fr": "chaque par annuel annuelle quotidien mensuel moyen moyenne médian maximum minimum net brut prévu prévue",
    }.items()
}
"""Words that bind a value to a part, a rate, a plan or a kind of figure."""

_QUANTIFIERS = (
    "all every each always entire completely whole everyone everybody",
    "most mostly majority usually generally",
    "some several sometimes certain partly",
    "few rarely seldom hardly minority",
    "many numerous often frequently",
    "only solely exclusively merely",
)
QUANTIFIERS = {word: number for number, listed in enumerate(_QUANTIFIERS) for word in listed.split()}
"""How much of something is meant: words of the same number mean the same."""

_OPPOSITES = (
    "more:less fewer",
    "higher high:lower low",
    "greater larger large big bigger:smaller small",
    "longer long:shorter short",
    "increase rise rose risen grow grew elevate raise enhance promote gain induce stimulate upregulate:"
    "decrease fall fell fallen decline reduce reduction drop lower diminish inhibit suppress prevent lose lost impair "
    "downregulate",
    "before earlier prior:after later following",
    "above over exceed:below under",
    "better improve:worse worsen",
    "first:last",
    "largest biggest greatest highest most maximum:smallest lowest least minimum",
    "oldest older old:youngest younger young newer newest new",
    "positive:negative",
    "faster fast:slower slow",
    "stronger strong:weaker weak",
    "up upper:down lower",
    "majority:minority",
    "beneficial protective safe:harmful detrimental dangerous",
    "sensitive susceptible:resistant resistance",
    "win won defeat beat:lose lost",
    "accept approve pass:reject refuse deny",
    "open begin began start:close end stop",
    "north northern:south southern",
    "east eastern:west western",
    "male men man boy:female women woman girl",
)


@cache
def opposites() -> dict[str, frozenset[tuple[int, bool]]]:
    """By English stem, the numbers of the pairs that it belongs to and the side."""
    sides: dict[str, set[tuple[int, bool]]] = {}
    for number, pair in enumerate(_OPPOSITES):
        for side, listed in enumerate(pair.split(":")):
            for word in listed.split():
                sides.setdefault(stem(word), set()).add((number, bool(side)))
    return {term: frozenset(found) for term, found in sides.items()}
