"""The blocks to copy of a section held against its tables of settings: what each has that the other lacks."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence, Set
from typing import NamedTuple

from graph_research.research.models.draft import Block, BlockType, DraftSection, Statement, StatementKind, rewritten
from graph_research.text.deferred_patterns import deferred
from graph_research.text.language.opposites import DEFAULT
from graph_research.text.language.stated import unstated
from graph_research.text.language.tables import any_of, word_of

_WORD = re.compile(r"[\w.]{3,}")
_BETWEEN = re.compile(r"[,;/]")
_SETTING = re.compile(r"(?:[!-~]+|\S+\s[^\W\d]\w*[._]\w\S*)(?:\s\(.*\))?")
"""What a row's label calls a setting: one word in ASCII, or behind another one a word with a sign in it."""
_SIGN = re.compile(r"(?<=\w)[._-](?=\w)")
"""Between the words of a name, of which a command's option may have another one than the setting."""
_NUMERIC = re.compile(r"(?<!\w)\d")
_STAYS = deferred(
    rf"(?:\w+\s+|[\u3040-\u9fff]){{0,3}}{DEFAULT.pattern}|(?:{any_of('unchanged')})\s*(?:[,;:.()–，；：。]|$)",
    re.IGNORECASE,
)
"""A cell that names the default among its first words, or begins by saying that something is left as it is."""
_CLAUSE_END = re.compile(r"[,;:(，；：（]")
_DENIES = deferred(rf"(?:{any_of('negations')})\s+\w", re.IGNORECASE)
"""A value that something is not to have."""
_PROGRAMS = frozenset(
    {"c", "cpp", "csharp", "go", "java", "javascript", "js", "kotlin", "php", "py", "python", "ruby", "rust", "swift"}
    | {"ts", "typescript"}
)
"""Languages of blocks in which a name before `=` is a variable."""
_SET = re.compile(r"(?<![\w.])([^\W\d][\w.]*)\s*=(?!=)")
"""A name before a sign that gives it a value, as settings files and SQL write it."""
_SPACED = frozenset(
    {"apache", "apacheconf", "conf", "config", "haproxy", "htaccess", "httpd", "nginx", "redis", "squid"}
    | {"ssh", "ssh_config", "sshconfig", "sshd", "sshd_config"}
)
"""Languages of blocks in which a line begins with the name of a setting, whatever stands behind it."""
_FIRST = re.compile(r"^[^\S\n]*([^\W\d][\w.-]*)(?![^\n]*\{\s*$)", re.MULTILINE)
"""The first word of a line, but of one that opens a section with a brace."""
_STATEMENT = re.compile(r"^\s*(?:select|insert|update|delete|merge)\b[^;]*", re.IGNORECASE | re.MULTILINE)
"""A statement that reads or changes rows sets their columns, and no setting."""
_WORD_OF_CODE = re.compile(r"[\w.]+")
_COMMENT = re.compile(r"(?:--|#|//).*")
_LETTERS, _LEAST_WORDS = re.compile(r"[^\W\d_]{3,}"), 2
"""Words of a comment, and how many say what a setting is for."""
_MARK = re.compile(r"(--|#|//)")
_BEHIND = re.compile(r"(.*\S)(\s+(?:--|#|//)\s.*)")
"""A line and the comment behind it."""
_JUDGED = deferred(rf"\s*(--|#|//).*?({word_of('judgement')})", re.IGNORECASE)
_PLAIN_VALUE = re.compile(r"\s*(\d[\d.]*\s?[^\W\d]*%?|[\w.-]+)\s*(?=[,;:.(（，；：。]|$)")
"""A value and nothing else in the first clause of a cell: a word, or a number with its unit."""
_UNSET = (
    "A table names what no block of the section sets: {settings}. "
    "Leave out what is no setting, stays at its default, belongs to another situation than the block, or has no "
    "passage among those above."
)
_UNEXPLAINED = (
    "This block sets what no row or sentence of the section tells of: {settings}. "
    "Say in a comment on its line what it is for and what it costs, as a passage does, or take the line out; "
    "keep what is no setting."
)
_MIXED = (
    "Beside {alone} this block gives another value than one above it to: {changed}. Who copies it for one gets both."
)


def notes_on_code(section: DraftSection) -> dict[str, str]:
    """Notes on the section's blocks to copy, by id: on the last of them, where tables name settings that none sets; on
    any that sets what the section does not tell of, where a row is called as a setting is, or something to another
    value than a block above it beside what no other block sets. A table is about settings where blocks hold a word of
    at least half of its row labels."""
    blocks = list(filter(_is_code, section.blocks))
    code = [row for block in blocks for row in block.sentences]
    languages = [block.language for block in blocks for _ in block.sentences]
    settings = [settings_in(row.text, language) for row, language in zip(code, languages, strict=True)]
    named, missing = _settings_of_tables(section, "\n".join(row.text for row in code).casefold()) if code else ([], [])
    notes = {code[-1].id: [_UNSET.format(settings="; ".join(missing))]} if missing else {}
    names = {word for label in named for word in _WORD.findall(label.casefold())}
    told = _told_of(section)
    values = [values_set(row.text, names) for row in code]
    for place, (row, given, own) in enumerate(zip(code, settings, values, strict=True)):
        remarked = _remarked(row.text, languages[place])
        untold = [name for name in given if name.casefold() not in told and name not in remarked]
        if untold and any(map(_SETTING.fullmatch, named)):
            notes.setdefault(row.id, []).append(_UNEXPLAINED.format(settings=", ".join(untold)))
        above = {name: value for earlier in values[:place] for name, value in earlier.items()}
        others = set(above).union(*values[place + 1 :])
        changed = sorted(name for name, value in own.items() if above.get(name, value) != value)
        alone = sorted(own.keys() - others)
        if changed and alone:
            notes.setdefault(row.id, []).append(_MIXED.format(changed=", ".join(changed), alone=", ".join(alone)))
    return {name: " ".join(said) for name, said in notes.items()}


def settings_in(code: str, language: str) -> list[str]:
    """The names that a block in a language sets, each once: those that it gives a value, but for a program's variables
    and the columns of a statement, or with which its lines begin where the language writes `Name value`."""
    return [] if language.lower() in _PROGRAMS else names_set_in(code, language)


def names_set_in(code: str, language: str) -> list[str]:
    """What `settings_in` says, with a program's variables: a file of settings may be one."""
    names = _FIRST if language.lower() in _SPACED else _SET
    return list(dict.fromkeys(names.findall(_STATEMENT.sub("", _COMMENT.sub("", code)))))


def tells_of(passage: str, setting: str, code: str = "") -> bool:
    """Whether a passage names a setting, and where `code` gives it a value, the value as well."""
    value = values_set(code, {setting.casefold()}).get(setting.casefold())
    names = [setting, *([value] if value else [])]
    return all(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", passage, re.IGNORECASE) for name in names)


def _remarked(code: str, language: str) -> set[str]:
    """The settings whose line has a comment in words, or stands below a line that is one."""
    found: set[str] = set()
    is_below = False
    for line in code.splitlines():
        comment, text = _COMMENT.search(line), _COMMENT.sub("", line)
        is_said = comment is not None and "=" not in comment[0] and len(_LETTERS.findall(comment[0])) >= _LEAST_WORDS
        found.update(settings_in(text, language) if is_said or is_below else ())
        is_below = is_said and not text.strip()
    return found


def _settings_of_tables(section: DraftSection, code: str) -> tuple[list[str], list[str]]:
    """The row labels of the section's tables about settings, and those of them that its code does not set though they
    do not stay at their default. A label in words of the language is no setting, nor one that begins with a
    capital or a small letter as no setting does that the code has."""
    named: list[str] = []
    missing: list[str] = []
    for block in section.blocks:
        rows = {name: row for row in block.rows if row for name in _names_in(row[0].text)}
        absent = [label for label in rows if not _is_set(label, code)]
        present = [label for label in rows if label not in absent]
        begin = {_begins(label) for label in present if not label[:1].isupper() or _SETTING.fullmatch(label)}
        unset = [label for label in absent if not _stays(rows[label], block.header)]
        if rows and 2 * len(unset) <= len(rows):
            named += rows
            missing += [label for label in unset if _begins(label) in begin and _SETTING.fullmatch(label)]
    return named, missing


def _is_set(label: str, code: str) -> bool:
    """Whether the code in small letters has a word of the label, with whatever signs in it."""
    plain = _SIGN.sub("", code)
    return any(word in code or _SIGN.sub("", word) in plain for word in _WORD.findall(label.casefold()))


def _begins(label: str) -> tuple[bool, bool]:
    """Whether a label begins with a capital, and whether another one follows."""
    return label[:1].isupper(), label[1:2].isupper()


def _names_in(label: str) -> list[str]:
    """The settings that a row's label names. A part with a number, with more words than the first one, or in other
    letters, tells of it: for which machine it is, or since which version."""
    first, *others = (part.strip() for part in _BETWEEN.split(label))
    length = len(first.split())
    alike = (part for part in others if len(part.split()) <= length and _begins(part) == _begins(first))
    return [first, *(part for part in alike if not _NUMERIC.search(part))]


def _told_of(section: DraftSection) -> set[str]:
    """The words of the section's tables and sentences."""
    blocks = [block for block in section.blocks if block.type is not BlockType.CODE]
    texts = (row.text.casefold() for block in blocks for row in block.statements())
    return {word.strip(".") for text in texts for word in _WORD_OF_CODE.findall(text)}


def _stays(row: Sequence[Statement], header: Sequence[str]) -> bool:
    """Whether a cell of a row of settings says that it stays at its default, the first what it is not set to, or what
    the cell of the defaults says; a column of defaults says of none."""
    cells, _ = _values_and_defaults(row, header)
    denied = bool(cells) and _DENIES.match(cells[0]) is not None
    return any(map(_STAYS.match, cells)) or denied or repeats_default(row, header)


def repeats_default(row: Sequence[Statement], header: Sequence[str]) -> bool:
    """Whether the value that a row gives a setting is what its cell of the defaults says."""
    values, defaults = _values_and_defaults(row, header)
    return bool(values) and any(_says_again(values[0], text) for text in defaults)


def _values_and_defaults(row: Sequence[Statement], header: Sequence[str]) -> tuple[list[str], list[str]]:
    """The texts of the cells behind the label, and those of the columns of defaults."""
    titles = [*header, *[""] * len(row)]
    given = [(cell.text, bool(DEFAULT.search(title))) for cell, title in zip(row[1:], titles[1:], strict=False)]
    values, defaults = ([text for text, is_default in given if is_default is wanted] for wanted in (False, True))
    return values, defaults


def _says_again(value: str, default: str) -> bool:
    """Whether the first clause of a value has no figure that the default lacks, or without a figure no word."""
    first = _CLAUSE_END.split(value, maxsplit=1)[0]
    if any(map(str.isdigit, first)):
        return not unstated(first, [default])
    words = _WORD_OF_CODE.findall(first.casefold())
    return bool(words) and set(words) <= set(_WORD_OF_CODE.findall(default.casefold()))


def values_set(code: str, names: Set[str]) -> dict[str, str]:
    """The last word of each line that holds one of the names before it, by the name, all in small letters; comments are
    left out."""
    values: dict[str, str] = {}
    for line in code.casefold().splitlines():
        *words, last = _WORD_OF_CODE.findall(_COMMENT.sub("", line)) or [""]
        values |= dict.fromkeys(names & set(words), last)
    return values


def without_lines_of(blocks: Sequence[Block], rows: Iterable[Sequence[Statement]]) -> list[Block]:
    """The blocks, of which those to copy no longer set what only the left out `rows` of tables are about."""
    left = _settings_of(row for block in blocks for row in block.rows)
    names = _settings_of(rows) - left

    def change(statement: Statement) -> Statement | None:
        text = "\n".join(line for line in statement.text.split("\n") if not values_set(line, names))
        return statement.model_copy(update={"text": text}) if text.strip() else None

    return [row for block in blocks for row in (rewritten([block], change) if _is_code(block) else [block])]


def without_objections(text: str, objected: Collection[str], holds: Callable[[str], bool]) -> str:
    """A block to copy without what fails in it: of a line that is objected to, or that does not hold by itself with a
    comment above it, its comment goes where the rest of it holds; a line to which nobody objected is called a judgement
    where it holds as one, since then no source has its value; else it and the comment above it go. Empty where nothing
    fails or only comments are left."""
    kept: list[str] = []
    for line in text.split("\n"):
        above = kept[-1:] if kept and not _before_comment(kept[-1]) and kept[-1].strip() else []
        if not line.strip() or (line.strip() not in objected and holds("\n".join([*above, line]))):
            kept.append(line)
        elif (plain := _without_comment(line)) and holds("\n".join([*above, plain])):
            kept.append(plain)
        elif (
            line.strip() not in objected
            and (judged := _as_judgement(line, text))
            and holds("\n".join([*above, judged]))
        ):
            kept.append(judged)
        elif _before_comment(line):
            kept = kept[: len(kept) - len(above)]
    rest = "\n".join(kept)
    return rest if rest != text and any(map(_before_comment, kept)) else ""


def _before_comment(line: str) -> str:
    return _COMMENT.sub("", line).strip()


def _without_comment(line: str) -> str:
    """The line without its comment, of which the word stays that calls its value a judgement; empty where it has no
    comment, or nothing else."""
    found = _BEHIND.fullmatch(line)
    if not found:
        return ""
    judged = _JUDGED.match(found[2])
    return f"{found[1]}  {judged[1]} {judged[2]}" if judged else found[1]


def _as_judgement(line: str, text: str) -> str:
    """The line with a comment that calls its value a judgement, in the word of the block; empty where it has no
    comment."""
    found, called = _BEHIND.fullmatch(line), _JUDGED.search(text)
    word = called[2] if called else "judgement"
    return found[1] + _MARK.sub(lambda mark: f"{mark[1]} {word}:", found[2], count=1) if found else ""


def with_lines_of(section: DraftSection, added: Collection[str]) -> DraftSection:
    """The section, in whose blocks to copy each row of a table of settings with a statement `added` has a line, made
    like that of a row beside it whose value stands in the block as its cell says it. A row of which there is none
    like it gets no line."""
    for table in (block for block in section.blocks if block.rows):
        for place, row in enumerate(table.rows):
            if any(cell.id in added for cell in row) and not _stays(row, table.header):
                beside = sorted(range(len(table.rows)), key=lambda other: abs(other - place))
                models = [_value_of(table.rows[other], table.header) for other in beside]
                section = _with_line(section, row, _value_of(row, table.header), list(filter(None, models)))
    return section


class _Value(NamedTuple):
    """The value that a row gives to the one setting that it names, and what its label says beside the name and its cell
    behind the value."""

    name: str
    value: str
    remark: str

    @property
    def is_like(self) -> tuple[bool, bool]:
        return any(map(str.isdigit, self.value)), any(map(str.isalpha, self.value))


def _value_of(row: Sequence[Statement], header: Sequence[str]) -> _Value | None:
    names = _names_in(row[0].text) if row else []
    titles = [*header, *[""] * len(row)]
    cells = [cell.text for cell, title in zip(row[1:], titles[1:], strict=False) if not DEFAULT.search(title)]
    value = _PLAIN_VALUE.match(cells[0]) if cells else None
    if value is None or len(names) != 1 or not _WORD.fullmatch(names[0]):
        return None
    beside = (row[0].text.replace(names[0], "", 1), cells[0][value.end() :])
    remarks = (" ".join(text.split()).strip(" ()（），,;；:：") for text in beside)
    return _Value(names[0], "".join(value[1].split()), "; ".join(filter(None, remarks)))


def _with_line(
    section: DraftSection, row: Sequence[Statement], given: _Value | None, models: Iterable[_Value]
) -> DraftSection:
    code = [(n, said) for n, block in enumerate(section.blocks) if _is_code(block) for said in block.sentences[:1]]
    if given is None or any(given.name.casefold() in _WORD_OF_CODE.findall(said.text.casefold()) for _, said in code):
        return section
    for model in (model for model in models if model.is_like == given.is_like):
        for number, said in code:
            if text := _text_with_line(said.text, given, model):
                cited = [name for cell in row for name in cell.evidence_ids]
                judged = [name for cell in row for name in cell.judged]
                longer = said.model_copy(
                    update={
                        "text": text,
                        "kind": StatementKind.ANALYSIS,
                        "evidence_ids": list(dict.fromkeys([*said.evidence_ids, *cited])),
                        "judged": list(dict.fromkeys([*said.judged, *judged])),
                    }
                )
                blocks = list(section.blocks)
                blocks[number] = blocks[number].model_copy(
                    update={"sentences": [longer, *blocks[number].sentences[1:]]}
                )
                return section.model_copy(update={"blocks": blocks})
    return section


def _text_with_line(text: str, given: _Value, model: _Value) -> str:
    """The text with a line for the value behind that of the model, empty where that has none."""
    lines = text.split("\n")
    pattern = re.compile(
        rf"(.*(?<![\w.])){re.escape(model.name)}((?![\w.]).*?(?<![\w.])){re.escape(model.value)}(\W*)", re.I
    )
    for number, line in enumerate(lines):
        stated = _COMMENT.sub("", line).rstrip()
        if found := pattern.fullmatch(stated):
            mark = next((found[1] for found in map(_MARK.search, [line, *lines]) if found), "")
            remark = f"  {mark} {given.remark}" if given.remark and mark else ""
            new = f"{found[1]}{given.name}{found[2]}{given.value}{found[3]}{remark}"
            return "\n".join([*lines[: number + 1], new, *lines[number + 1 :]])
    return ""


def _settings_of(rows: Iterable[Sequence[Statement]]) -> set[str]:
    """The names in the labels of the rows, in small letters."""
    return {name for row in rows if row for name in _names_in(row[0].text.casefold())}


def _is_code(block: Block) -> bool:
    return block.type is BlockType.CODE
