"""A private library in mixed formats, with numbers in tables and stale versions: each question is answered from the
right document in its current version, or the report says that nothing was found."""

from __future__ import annotations

import io
import json
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pytest

from tests.support.cli.cli_process import User
from tests.support.documents import foreign_files

POLICY = """# Travel policy, version {version}

Whoever travels for Northgate Mill books trains and flights at least two weeks before the journey begins.
Hotels are paid up to {hotel} euros a night. Receipts are handed in within {days} days after the return.
Whoever drives a car of their own is paid {car} cents a kilometre.
"""
TARIFF = """Tariff of the ferry to Sandholm, {year}

A return ticket for an adult costs {price} crowns, for a child half of that. Bicycles travel free of charge.
Dogs need a lead and a ticket of their own. The ferry leaves every hour from seven in the morning.
"""


def workbook() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Machines"
    for row in [
        ("Machine", "Bought in", "Price in euros", "Power in kW"),
        ("Hammer mill", 2016, 48200, 75),
        ("Roller mill", 2019, 61500, 55),
        ("Sifter", 2021, 23900, 11),
    ]:
        sheet.append(row)
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


def word_document() -> bytes:
    document = docx.Document()
    document.add_heading("Safety rules of Northgate Mill", 1)
    document.add_heading("Dust explosions", 2)
    document.add_paragraph("Filters of the dust extraction are changed every 400 hours of work.")
    document.add_heading("First aid", 2)
    document.add_paragraph("The first-aid box hangs beside the door of the packing room.")
    table = document.add_table(rows=0, cols=2)
    for row in [("Role", "Name"), ("Fire warden", "Ilse Brandt"), ("First aider", "Tomas Kvist")]:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    made = io.BytesIO()
    document.save(made)
    return made.getvalue()


def mail() -> bytes:
    message = EmailMessage()
    message["From"], message["To"] = "Ilse Brandt <ilse@example.org>", "mill@example.org"
    message["Date"], message["Subject"] = "Mon, 06 Mar 2023 09:00:00 +0000", "Stop of the roller mill"
    message.set_content("Dear all,\n\nthe roller mill stands still from 13 March because its bearings are replaced.\n")
    return message.as_bytes()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mill")
    files = {
        "policy/travel-policy-v1.md": POLICY.format(version="1", hotel=85, days=60, car=25).encode(),
        "policy/travel-policy-v2.md": POLICY.format(version="2", hotel=120, days=30, car=32).encode(),
        "ferry-tariff-2021.txt": TARIFF.format(year=2021, price=140).encode(),
        "ferry-tariff-2023.txt": TARIFF.format(year=2023, price=165).encode(),
        "machines.xlsx": workbook(),
        "safety.docx": word_document(),
        "mails/stop.eml": mail(),
        "output.csv": b"Month,Rye flour in tonnes,Wheat flour in tonnes\nJanuary,212,640\nFebruary,187,598\n",
        "museum-visitors.csv": b"Month,Adults,Children\nMay,310,120\nJune,455,98\nJuly,502,131\nTotal,1267,349\n",
        "archive/notes.zip": foreign_files.packed(
            {"cellar.md": "# Cellar of the mill\n\nThe cellar was flooded in 1998 and again in 2013.\n"}
        ),
        "site/history.html": b"<html><head><title>History of Northgate Mill</title></head><body>"
        b"<h1>History of Northgate Mill</h1><p>The mill was built in 1874 by the brothers Aagaard.</p></body></html>",
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


QUESTIONS = [
    ("How much is paid for a hotel a night under the travel policy?", "120 euros", "travel-policy-v2.md"),
    ("Within how many days are receipts handed in?", "30 days", "travel-policy-v2.md"),
    ("How many cents a kilometre is paid for a car?", "32 cents", "travel-policy-v2.md"),
    ("What does a return ticket for the ferry to Sandholm cost?", "165 crowns", "ferry-tariff-2023.txt"),
    ("What did the roller mill cost in euros?", "61500", "machines.xlsx"),
    ("In which year was the sifter bought?", "2021", "machines.xlsx"),
    ("What power in kW does the hammer mill have?", "75", "machines.xlsx"),
    ("After how many hours are filters of the dust extraction changed?", "400 hours", "safety.docx"),
    ("Where does the first-aid box hang?", "packing room", "safety.docx"),
    ("Who is the fire warden?", "Ilse Brandt", "safety.docx"),
    ("Why does the roller mill stand still in March?", "bearings", "stop.eml"),
    ("How many tonnes of rye flour were made in February?", "187", "output.csv"),
    ("How many tonnes of wheat flour were made in January?", "640", "output.csv"),
    ("When was the cellar flooded?", "1998", "cellar.md"),
    ("Who built Northgate Mill?", "Aagaard", "history.html"),
    ("Which machine was the most expensive?", "61500", "machines.xlsx"),
    ("In which month did the museum have the fewest adult visitors?", "May 310", "museum-visitors.csv"),
    ("In which month did the museum have the most children as visitors?", "July 502", "museum-visitors.csv"),
    ("Do bicycles travel free on the ferry?", "free of charge", "ferry-tariff-2023.txt"),
]
NOT_FOUND = [
    "What is the capital of Mongolia?",
    "Which bank gave the loan for the windmill?",
    "How tall is the lighthouse of Skagen?",
    "What did the solar panels cost?",
]


def research(shell: User, question: str, folder: Path) -> dict[str, Any]:
    out = shell.folder / "out"
    shell.run("run", question, "--library", str(folder), "--out", str(out))
    report: dict[str, Any] = json.loads((out / "report.json").read_text())
    return report


@pytest.mark.parametrize(("question", "answer", "document"), QUESTIONS)
def test_a_question_is_answered_from_the_right_document(
    question: str, answer: str, document: str, shell: User, library: Path
) -> None:
    report = research(shell, question, library)
    assert report["found"]
    first = report["citations"][0]
    urls = {source["id"]: source["url"] for source in report["sources"]}
    quotes = " ".join(one["quote"] for one in report["citations"] if urls[one["source_id"]].endswith(document))
    assert answer in quotes
    in_sheets = [one["place"] for one in report["citations"] if urls[one["source_id"]].endswith(".xlsx")]
    assert all(place["kind"] == "cell" and place["within"] == "Machines" for place in in_sheets)
    assert not urls[first["source_id"]].endswith(("travel-policy-v1.md", "ferry-tariff-2021.txt"))


def test_of_a_row_of_a_table_the_cell_is_marked_whose_value_another_document_denies(
    shell: User, tmp_path: Path
) -> None:
    for name, price in (("north.md", 82), ("south.md", 78)):
        table = (
            f"| Beer | Keg net | Bottle |\n| --- | --- | --- |\n| Amber Ale | {price} | 1.42 |\n| Stout | 91 | 1.63 |\n"
        )
        (tmp_path / name).write_text(f"# Prices of the brewery\n\n{table}")
    research(shell, "What does a keg of Amber Ale cost net?", tmp_path)
    lines = (shell.folder / "out" / "report.md").read_text().splitlines()
    label, keg, bottle = next(line for line in lines if "Amber Ale” [" in line).strip("| ").split(" | ")
    assert ("disputed" in label, "disputed" in keg, "disputed" in bottle) == (False, True, False)


@pytest.mark.parametrize("question", NOT_FOUND)
def test_a_question_without_an_answer_is_not_found(question: str, shell: User, library: Path) -> None:
    research(shell, question, library)
    assert "## Not found" in (shell.folder / "out" / "report.md").read_text()
