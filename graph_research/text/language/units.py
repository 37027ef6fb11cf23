"""How languages write scales, small numbers and units: one table each, for all languages at once."""

from __future__ import annotations

from graph_research.text.language.tables import listed, numbered, unit_names

SCALES = {word: 10.0**power for word, power in numbered("scales").items()}
SCALES |= {word: 12.0 for words in listed("dozen").values() for word in words}
"""What a scale word multiplies a number with. A "billion" is the English one."""
CJK_SCALES = {"万": 1e4, "萬": 1e4, "亿": 1e8, "億": 1e8, "兆": 1e12}
SHORT_SCALES = {"k": 1e3, "m": 1e6}
"""The letters after an amount of money: `£5m`."""
EURO_SCALES = {"k": 1e3, "t": 1e3, "m": 1e6, "md": 1e9}
"""The letters before the sign of an amount of euros, in French and German: `21,6 M€`."""
CJK_DIGITS = {
    sign: n
    for n, signs in enumerate(("零〇", "一", "二两兩", "三", "四", "五", "六", "七", "八", "九"))
    for sign in signs
}
CJK_TENS = {"十": 10, "百": 100, "千": 1_000}

AMBIGUOUS = {
    language: dict(word.split("=") for word in words) for language, words in listed("ambiguous_numbers").items()
}
"""By language small numbers whose words mean something else there or elsewhere: they are read in quotes only."""
MULTIPLES = numbered("multiples")
"""Words that say how many times as much there is."""
COUNTS = numbered("counts") | MULTIPLES
"""Words that say how many, or how many times as much, there are without being a number."""

UNITS: dict[str, tuple[str, float]] = {}
"""The dimension of a unit and its factor to the dimension's base unit, by every way to write it."""
UNITS |= {f"{_letter}iB": ("data", 1024.0**_power) for _power, _letter in enumerate("KMGT", start=1)}
UNITS |= {"KB": ("data", 1e3), "kiB": ("data", 1024.0)}
UNITS |= {f"{_letter}bit": ("data", 1e3**_power / 8) for _power, _letter in enumerate("kMGT", start=1)}
for _names, _dimension, _factor in unit_names():
    UNITS |= dict.fromkeys(_names, (_dimension, _factor))
UNITS |= {
    name.capitalize(): unit for name, unit in UNITS.items() if len(name) > 2 and name.isalpha() and name.islower()
}
CURRENCIES = {sign: UNITS[sign][0] for sign in "€$£¥"}

RATES = UNITS | {"an": UNITS["year"], "rok": UNITS["year"], "Stunde": UNITS["hour"]}
"""What may stand after "per": the units, and words that mean no unit after a number."""
