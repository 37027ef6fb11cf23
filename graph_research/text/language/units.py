"""How languages write scales, small numbers and units: one table each, for all languages at once."""

from __future__ import annotations

_SCALE_WORDS = {
    2: "hundred hundert",
    3: "thousand tausend tsd mille mil mila duizend tysiąc tysiące tysięcy tys",
    6: "million millions millionen mio mn millón millones milione milioni milhão milhões miljoen milion miliony "
    "milionów mln",
    9: "billion billions bn milliarde milliarden mrd milliard milliards miliardo miliardi bilhão bilhões miljard "
    "miliard miliardy miliardów mld",
    12: "trillion trillions billionen billones biliony",
}
SCALES = {word: 10.0**power for power, listed in _SCALE_WORDS.items() for word in listed.split()}
"""What a scale word multiplies a number with. A "billion" is the English one."""
CJK_SCALES = {"万": 1e4, "萬": 1e4, "亿": 1e8, "億": 1e8, "兆": 1e12}
SHORT_SCALES = {"k": 1e3, "m": 1e6}
"""The letters after an amount of money: `£5m`."""

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
# Without words that mean something else in another of the languages (`elf`, `once`, `due`, `sei`, `neuf`).
_SMALL_ELSEWHERE = {
    2: "zwei deux dois twee dwa dwie",
    3: "drei trois tres três drie trzy",
    4: "vier quatre cuatro quatro quattro cztery",
    5: "fünf cinq cinco cinque vijf pięć",
    6: "sechs seis sześć",
    7: "sieben siete sette zeven siedem",
    8: "acht huit ocho oito osiem",
    9: "neun nueve nove negen dziewięć",
    10: "zehn dix diez dieci dez tien dziesięć",
    11: "onze undici",
    12: "zwölf douze doce dodici doze twaalf",
}
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
TENS = {word: 10 * number for number, word in enumerate(_TENS.split(), start=2)}
UP_TO_NINE = tuple(_SMALL.split()[1:10])
SPELLED = {word: number for number, word in enumerate(_SMALL.split())} | {
    word: number for number, listed in _SMALL_ELSEWHERE.items() for word in listed.split()
}
"""Small numbers by their words."""

_COUNTED = {
    2: "both twice beide beiden beider zweimal ambos ambas entrambi entrambe oba obie",
    3: "thrice dreimal",
}
COUNTS = {word: number for number, listed in _COUNTED.items() for word in listed.split()}
"""Words that say how many there are without being a number."""

UNITS: dict[str, tuple[str, float]] = {}
"""The dimension of a unit and its factor to the dimension's base unit, by every way to write it."""
for _name, _factor in {"": 1.0, "kilo": 1e3, "mega": 1e6, "giga": 1e9, "tera": 1e12}.items():
    UNITS |= {f"{_name}watt hour": ("energy", _factor), f"{_name}watt-hour": ("energy", _factor)}
    UNITS |= {f"{_name}wattstunde": ("energy", _factor), f"{_name}watt": ("power", _factor)}
    UNITS |= {f"{_name}byte": ("data", _factor), f"{_name}hertz": ("freq", _factor)}
for _letter, _factor in {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}.items():
    UNITS |= {f"{_letter}Wh": ("energy", _factor), f"{_letter}W": ("power", _factor), f"{_letter}B": ("data", _factor)}
    UNITS |= {f"{_letter}Hz": ("freq", _factor), f"{_letter}bit": ("data", _factor / 8)}
UNITS |= {f"{_letter}iB": ("data", 1024.0**_power) for _power, _letter in enumerate("KMGT", start=1)}
UNITS |= {"KB": ("data", 1e3)}
for _names, _dimension, _factor in (
    ("percentage point|prozentpunkt|prozentpunkte|punto percentuale|punti percentuali|个百分点", "points", 1.0),
    ("percent|per cent|%|％|prozent|por ciento|por cento|pour cent|per cento|procent|パーセント", "percent", 1.0),
    ("millimetre|millimeter|millimètre|milímetro|millimetro|millimetri|mm|毫米|ミリメートル", "length", 1e-3),
    ("centimetre|centimeter|centimètre|centímetro|centimetro|centimetri|cm|厘米|センチ", "length", 1e-2),
    ("kilometre|kilometer|kilomètre|kilómetro|quilômetro|quilómetro|chilometri|chilometro|kilometrów|km|公里|千米"
     "|キロメートル", "length", 1e3),
    ("metre|meter|mètre|metro|metri|metrów|m|米|メートル", "length", 1.0),
    ("mile", "length", 1609.344),
    ("nautical mile", "length", 1852.0),
    ("foot|feet|ft", "length", 0.3048),
    ("square kilometre|square kilometer|quadratkilometer|km²|km2|sq km|平方公里|平方キロメートル", "area", 1e6),
    ("square metre|square meter|quadratmeter|m²|m2|平方米", "area", 1.0),
    ("square mile|sq mi", "area", 2589988.0),
    ("square foot|square feet|sq ft", "area", 0.092903),
    ("hectare|hektar|hectárea|ettaro|ettari|ha|公顷|ヘクタール", "area", 1e4),
    ("acre", "area", 4046.86),
    ("cubic metre|cubic meter|kubikmeter|m³|m3|立方米", "volume", 1.0),
    ("litre|liter|litro|litri", "volume", 1e-3),
    ("milligram|mg", "mass", 1e-6),
    ("kilogram|kilogramm|kilogramme|kilogramo|quilograma|chilogrammi|kg|公斤|千克|キログラム", "mass", 1.0),
    ("gram|gramm|gramme|gramo|grama|grammi|克|グラム", "mass", 1e-3),
    ("metric ton|tonne|tonelada|tonnellata|tonnellate|ton|吨|噸|トン", "mass", 1e3),
    ("nanosecond|ns", "time", 1e-9),
    ("microsecond|µs|μs", "time", 1e-6),
    ("millisecond|millisekunde|milliseconde|milisegundo|millisecondi|ms|毫秒|ミリ秒", "time", 1e-3),
    ("second|sekunde|seconde|segundo|secondo|secondi|sekund|sekundy|sec|s|秒", "time", 1.0),
    ("minute|minuto|minuti|minuut|minuten|minut|minuty|min|分钟|分鐘|分間", "time", 60.0),
    ("hour|stunde|heure|hora|ora|ore|uur|uren|godzin|godziny|h|小时|小時|時間", "time", 3600.0),
    ("day|tag|tage|jour|día|dia|giorno|giorni|dag|dagen|dni|天|日間", "time", 86400.0),
    ("week|woche|semaine|semana|settimana|settimane|weken|tygodni|tygodnie|周|週間", "time", 604800.0),
    ("month|monat|monate|mois|mes|meses|mese|mesi|mês|maand|maanden|miesięcy|miesiące|个月|個月|か月|ヶ月", "time",
     2629800.0),
    ("year|jahr|jahre|ans|année|año|ano|anno|anni|jaar|jaren|lat|lata|年", "time", 31557600.0),
    ("euro|EUR|€|欧元|歐元|ユーロ", "money:euro", 1.0),
    ("dollar|dólar|dólare|dollari|dolarów|USD|US dollar|US-Dollar|$|美元|米ドル|ドル", "money:dollar", 1.0),
    ("pound sterling|GBP|pound|livre sterling|£|英镑|ポンド", "money:pound", 1.0),
    ("yen|JPY|¥|日元|円", "money:yen", 1.0),
    ("yuan|CNY|人民币|元", "money:yuan", 1.0),
    ("degree Celsius|degrees Celsius|Grad Celsius|°C|度|摄氏度", "celsius", 1.0),
    ("degree Fahrenheit|degrees Fahrenheit|°F", "fahrenheit", 1.0),
):  # fmt: skip
    UNITS |= dict.fromkeys(_names.split("|"), (_dimension, _factor))
UNITS |= {
    name.capitalize(): unit for name, unit in UNITS.items() if len(name) > 2 and name.isalpha() and name.islower()
}
CURRENCIES = {sign: UNITS[sign][0] for sign in "€$£¥"}

RATES = UNITS | {"an": UNITS["year"], "rok": UNITS["year"], "Stunde": UNITS["hour"]}
"""What may stand after "per": the units, and words that mean no unit after a number."""
