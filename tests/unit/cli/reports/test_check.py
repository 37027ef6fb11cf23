"""`check`: a report of anyone, sentence by sentence, against a folder of documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graph_research.text.locators import resolve
from graph_research.text.readers.markdown import markdown_document
from tests.support.cli.cli_process import DEMO_LIBRARY, User
from tests.support.documents.foreign_files import packed

REPORT = """# The lagoon

The Marrow Bay tidal lagoon has an installed capacity of 240 megawatts [1]. The construction cost of the Marrow Bay
tidal lagoon was 7.4 billion euros. Salmon smolt mortality at the Marrow Bay tidal lagoon was 4.2 percent [2]. The
lagoon increased the number of wintering dunlin. The harbour of Port Hesket exports 40,000 tonnes of granite a year.
Is it so?

The construction cost of the Marrow Bay tidal lagoon reached 1.61 billion euros [3].

## References

[1] Annual report, official/annual-report-2021.pdf
[2] Somebody, nowhere.html
[3] audit-review-2018.md
"""
EXPECTED = ["supported", "contradicted", "supported", "contradicted", "not_found", "not_checkable", "supported"]


def audit(user: User, name: str, *options: str) -> Any:
    return user.run("check", name, "--library", str(DEMO_LIBRARY), "--json", *options).json


def test_each_sentence_gets_a_verdict_and_the_best_passage_with_its_place(user: User) -> None:
    user.write("mine.md", REPORT)
    done = audit(user, "mine.md")
    assert [row["verdict"] for row in done["sentences"]] == EXPECTED
    assert done["counts"] == {name: EXPECTED.count(name) for name in done["counts"]}
    cited = done["sentences"][0]["quote"]
    assert (cited["path"], cited["cited"]) == ("official/annual-report-2021.pdf", True)
    assert done["sentences"][2]["unfollowed"] == ["2"]
    last = done["sentences"][-1]
    document = markdown_document((DEMO_LIBRARY / last["quote"]["path"]).read_text())
    start, end = resolve(document.text, last["quote"]["locator"], document.pages or None)
    assert document.text[start:end] == last["quote"]["quote"]
    assert "1.34 billion euros" in last["against"]["quote"]


def test_several_folders_are_asked_and_a_path_leads_into_the_one_that_it_names(user: User) -> None:
    for folder, height in (("north", 12), ("south", 17)):
        user.write(f"{folder}/tower.md", f"# The tower\n\nThe tower of the {folder} pier is {height} metres high.")
    user.write("mine.md", "The tower of the south pier is 17 metres high [1].\n\n## References\n\n[1] south/tower.md\n")
    done = user.run("check", "mine.md", "--library", "north", "--library", "south", "--json").json
    assert done["documents"] == 2
    [row] = done["sentences"]
    assert (row["verdict"], row["quote"]["cited"]) == ("supported", True)
    assert "17 metres" in row["quote"]["quote"]
    user.run("check", "mine.md", "--library", "north", "-o", "audit.html")
    assert "<html" in (user.folder / "audit.html").read_text()


def test_a_sentence_with_a_word_that_no_passage_has_is_not_supported(user: User) -> None:
    true = "Salmon smolts die at a rate of 4.2 percent at Marrow Bay. Building the lagoon cost 1.34 billion euros."
    false = "The turbines of the lagoon are made of chocolate. The governor drinks whisky with the turbines at night."
    user.write("mine.md", f"{true} {false}")
    verdicts = [row["verdict"] for row in audit(user, "mine.md")["sentences"]]
    assert verdicts[:2] == ["supported", "supported"]
    assert not {"supported", "contradicted"} & {*verdicts[2:]}


def test_free_words_are_unclear_and_what_the_library_has_nothing_of_is_not_found(user: User) -> None:
    free = "For the auditors the lagoon ended up costing 1.61 billion euros in construction money, interest included."
    swapped = (
        "Electricity from the Gannet Bank wind farm costs 132 euros, and the Marrow Bay tidal lagoon receives 74 euros."
    )
    user.write("mine.txt", f"{free} {swapped} Penguins breed on the southern glaciers of the moon.")
    first, second, third = audit(user, "mine.txt")["sentences"]
    assert (first["verdict"], "1.61 billion" in first["quote"]["quote"]) == ("unclear", True)
    assert "words do not decide it: the passage has no" in first["reason"]
    assert (second["verdict"], third["verdict"]) == ("contradicted", "not_found")
    assert third["reason"] == "the nearest passage has no Penguins, breed, southern, glaciers"
    shown = user.run("check", "mine.txt", "--library", str(DEMO_LIBRARY)).out
    assert "nearest: “" in shown
    assert "One may say it in other words, which code does not tell" in shown


@pytest.mark.parametrize("suffix", ["md", "html"])
def test_a_link_into_the_library_is_followed_first(user: User, suffix: str) -> None:
    said = "The cost of the Marrow Bay tidal lagoon reached 1.61 billion euros"
    if suffix == "md":
        links = ("[audit](../library/official/audit%2Dreview-2018.md)", "[1](https://example.org/elsewhere)")
    else:
        links = (
            '<a class="x" href="../library/official/audit%2Dreview-2018.md">audit</a>',
            '<a href="https://example.org/elsewhere">1</a>',
        )
    user.write(f"mine.{suffix}", f"{said}, says the {links[0]}.\n\n{said} {links[1]}.\n")
    first, second = audit(user, f"mine.{suffix}")["sentences"]
    assert (first["quote"]["path"], first["quote"]["cited"]) == ("official/audit-review-2018.md", True)
    assert first["citations"] == ["../library/official/audit%2Dreview-2018.md"]
    assert (second["text"], second["quote"]["cited"]) == (f"{said}.", False)
    assert second["unfollowed"] == ["1", "https://example.org/elsewhere"]


def test_the_same_report_as_a_page_and_as_text_gets_the_same_verdicts(user: User) -> None:
    user.write("mine.md", REPORT)
    paragraphs = "".join(f"<p>{part}</p>" for part in REPORT.split("\n\n")[1:3])
    user.write("mine.html", f"<html><body><h1>The lagoon</h1>{paragraphs}</body></html>")
    user.write("mine.txt", "\n\n".join(REPORT.split("\n\n")[1:3]))
    for name in ("mine.html", "mine.txt"):
        assert [row["verdict"] for row in audit(user, name)["sentences"]] == EXPECTED


def test_the_raised_marks_of_notes_on_a_page_are_its_citations(user: User) -> None:
    said = "The construction cost of the Marrow Bay tidal lagoon reached 1.61 billion euros."
    mark = '<sup><a href="#n1">[1]</a></sup>'
    notes = '<h2>References</h2><p id="n1">[1] audit-review-2018.md</p>'
    user.write("mine.html", f"<html><body><h1>The lagoon</h1><p>{said}{mark}</p>{notes}</body></html>")
    [sentence] = audit(user, "mine.html")["sentences"]
    assert (sentence["text"], sentence["quote"]["cited"]) == (said, True)


@pytest.mark.parametrize("format", ["md", "html", "docx", "pdf"])
def test_the_programs_own_report_is_supported_by_its_library(user: User, researcher: User, format: str) -> None:
    file = user.folder / f"own.{format}"
    researcher.run("report", "tides", "--format", format, "-o", str(file))
    done = user.run("check", file.name, "--library", "library", "--json").json
    assert done["counts"]["contradicted"] == done["counts"]["not_found"] == 0
    said = [row for row in done["sentences"] if row["citations"]]
    assert said
    assert all(row["verdict"] == "supported" and not row["unfollowed"] for row in said)
    others = [row["text"] for row in done["sentences"] if row["verdict"] == "unclear"]
    assert others == [], "who wrote a source and what the contents are is no sentence of the report"


@pytest.mark.parametrize("format", ["md", "html"])
def test_a_page_to_hand_on_holds_no_markup_of_the_report(user: User, format: str) -> None:
    user.write("evil.txt", "The <script>alert(1)</script> lagoon has an installed capacity of 240 megawatts.")
    done = user.run("check", "evil.txt", "--library", str(DEMO_LIBRARY), "--format", format, "-o", "audit.out")
    assert "written: audit.out" in done.err
    page = (user.folder / "audit.out").read_text()
    assert "<script>" not in page.replace("\\<", "")
    assert "240 megawatts" in page


def test_the_table_shows_verdict_passage_and_place(user: User) -> None:
    user.write("mine.md", REPORT)
    out = user.run("check", "mine.md", "--library", str(DEMO_LIBRARY)).out
    assert "contradicted" in out
    assert "official/annual-report-2021.pdf, page 2" in out
    assert "7 sentences: 3 supported, 2 contradicted, 0 unclear, 1 not found, 1 not checkable" in out


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("missing.md", None, "there is no file missing.md"),
        ("empty.md", b"", "it has no text"),
        ("broken.pdf", b"%PDF-1.4\nnothing", "cannot be read"),
        ("photo.jpg", b"\xff\xd8", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(user: User, name: str, content: bytes | None, words: str) -> None:
    if content is not None:
        Path(user.folder, name).write_bytes(content)
    done = user.run("check", name, "--library", "library", expect=2)
    assert words in done.err


def test_a_library_that_is_not_there_or_empty_is_refused(user: User) -> None:
    user.write("mine.md", REPORT)
    assert "there is no folder" in user.run("check", "mine.md", "--library", "nowhere", expect=2).err
    (user.folder / "bare").mkdir()
    assert "no document can be read" in user.run("check", "mine.md", "--library", "bare", expect=2).err


def test_a_verifier_model_judges_what_code_found_and_overrules_no_missing_number(user: User) -> None:
    user.write("mine.md", REPORT)
    verdicts = [
        {"n": 1, "verdict": "supported"},
        {"n": 2, "verdict": "supported"},
        {"n": 3, "verdict": "not", "reason": "it is said of another lagoon"},
    ]
    spec = user.script("verifier.json", {"verifier": [{"verdicts": verdicts}]})
    done = user.run("check", "mine.md", "--library", str(DEMO_LIBRARY), "--role", f"verification={spec}", "--json")
    assert f"verification: {spec}" in done.err
    first, second, third, *rest = done.json["sentences"]
    assert (first["verdict"], first["model"]) == ("supported", "scripted:verifier.json")
    assert (second["verdict"], second["reason"]) == ("contradicted", "not in the cited quotes: 7.4 billion euros")
    assert (third["verdict"], "it is said of another lagoon" in third["reason"]) == ("not_found", True)
    assert [row["verdict"] for row in rest] == EXPECTED[3:]
    assert all(len(row["passages"]) <= 3 for row in rest)
    assert user.run("replay", done.json["run_id"], "--json").json["identical"] is True


def test_a_verifier_model_does_not_overrule_what_another_row_of_the_same_label_says(user: User) -> None:
    table = "| Consumer | Share of energy (percent) |\n|---|---|\n| Cooling | 41 |\n| Computing | {} |\n"
    user.write("papers/audit.md", f"# Energy audit\n\nThe mill has a staff of 27 people.\n\n{table.format(33)}")
    user.write("mine.md", f"# Energy of the mill\n\n{table.format(27)}")
    spec = user.script("v.json", {"verifier": [{"verdicts": [{"n": n, "verdict": "supported"} for n in (1, 2)]}]})
    done = user.run("check", "mine.md", "--library", "papers", "--role", f"verification={spec}", "--json").json
    assert [row["verdict"] for row in done["sentences"]] == ["supported", "contradicted"]
    assert done["sentences"][1]["reason"] == "not in the cited quotes: 27 percent"


def test_a_document_of_an_archive_is_cited_and_judged_by_a_model(user: User) -> None:
    cost = "The construction cost of the Marrow Bay tidal lagoon was 1.61 billion euros."
    archive = user.folder / "papers" / "a.zip"
    archive.parent.mkdir()
    archive.write_bytes(packed({"aaa.txt": "Salmon smolts swim.", "audit.txt": cost}))
    user.write("mine.txt", f"{cost[:-1]} [1].\n\nReferences\n\n[1] audit.txt\n")
    spec = user.script("verifier.json", {"verifier": [{"verdicts": [{"n": 1, "verdict": "supported"}]}]})
    done = user.run("check", "mine.txt", "--library", "papers", "--role", f"verification={spec}", "--json").json
    first = done["sentences"][0]
    assert (first["verdict"], first["model"]) == ("supported", "scripted:verifier.json")
    assert (first["quote"]["path"], first["quote"]["cited"]) == ("a.zip/audit.txt", True)


def test_each_file_of_the_library_that_was_not_read_is_named(user: User) -> None:
    user.write("quay/tower.md", "The tower of the quay is 12 metres high.")
    user.write("quay/tower.png", "12")
    user.write("mine.md", "The tower of the quay is 12 metres high.")
    done = user.run("check", "mine.md", "--library", "quay", "--json")
    reason = f"{user.folder / 'quay' / 'tower.png'}: unsupported file type"
    assert done.json["unread"] == [reason]
    assert f"not read: {reason}" in done.err
