"""Passages that say what a note says, what the researchers' reading lacked, and what others' evidence answers of it."""

from __future__ import annotations

from graph_research.research.agents.writing.notes import Note, answered_by_words, noted_sources, passages_of_note
from graph_research.text.document import Document
from graph_research.text.readers.html import html_document

TITLES = ["20.4. Resource Consumption", "Foreign Key Support", ""]
TEXTS = [
    "The defaults of work_mem and cache_size are 4 MB and 4 GB.",
    "cost_limit (integer) The cost at which vacuum sleeps. The default value is 200.",
]


def test_a_limit_that_a_finding_or_a_quote_answers_is_none_whatever_page_lacks_it() -> None:
    limits = [
        "The defaults of work_mem and cache_size are not in the parts shown of '20.4. Resource Consumption'.",
        "The value of cost_limit at which vacuum sleeps is not in the parts shown of '20.4. Resource Consumption'.",
        "Whether keys are checked is not in the parts shown of 'Foreign Key Support'.",
        "The default of cost_delay is not given.",
    ]
    assert answered_by_words(limits, TEXTS, TITLES) == limits[:2]


DUMP = Document(
    text="The tool larch_dump writes a script. Its script can be loaded into a newer release of Larch. "
    "Larch has many tools, which other chapters tell of.",
    title="Dumps",
)
COPY = Document(
    text="A base copy holds the files of the whole cluster. Clients go on with their work while it is taken. "
    "The log of a cluster has many files.",
    title="Copies",
)
NOTE = Note(
    "Backup: larch_dump's script loads into newer releases; a base copy has all files of the cluster.",
    ("src-0000000001", "src-0000000002"),
)
PAGES = {"src-0000000001": DUMP, "src-0000000002": COPY}


def test_what_a_note_says_is_quoted_from_all_its_sources_for_each_thing_that_it_names() -> None:
    others = [Note("Gulls nest here."), NOTE]
    assert noted_sources("a base copy has all files of the cluster", others) == NOTE.source_ids
    assert noted_sources("Gulls eat fish", [NOTE]) == ()
    said = "A dump can be loaded into a newer release, a base copy is of the whole cluster."
    found = passages_of_note(NOTE.text, said, PAGES)
    assert {(row["source_id"], row["quote"]) for row in found} >= {
        (
            "src-0000000001",
            "The tool larch_dump writes a script. Its script can be loaded into a newer release of Larch.",
        ),
        ("src-0000000002", "A base copy holds the files of the whole cluster."),
    }


def test_of_words_that_no_source_says_nothing_is_quoted() -> None:
    assert passages_of_note("The licence costs nine euros a month.", "It costs 9 euros.", PAGES) == []


def test_what_stands_around_a_sentence_tells_which_of_several_a_note_means() -> None:
    modes = "".join(
        f"<dt>{name}</dt><dd><p>When sync is {name}, Larch {does}. By this a power failure {may} the file.</p></dd>"
        for name, does, may in (
            ("OFF", "hands data over and goes on", "may damage"),
            ("FULL", "waits until data is on the disk", "will not damage"),
        )
    )
    filler = "".join(f"<p>A power failure is rare in hall {n}, and no file is there.</p>" for n in range(6))
    page = html_document(f"<main><h1>Modes</h1><dl>{modes}</dl>{filler}</main>")
    [first, *_] = passages_of_note("FULL: no damage at a power failure", "FULL keeps the file.", {"src-1": page})
    last = "By this a power failure will not damage the file."
    assert first["quote"].endswith(f"When sync is FULL, Larch waits until data is on the disk. {last}")
