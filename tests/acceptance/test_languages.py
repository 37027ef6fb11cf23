"""A question in German, French and Chinese over texts in that language, without a model: a right short answer, and no
heading or fixed sentence in another language."""

from __future__ import annotations

import json

import pytest

from tests.support.cli.cli_process import User

TEXTS = {
    "de": {
        "waermepumpe.md": "# Wärmepumpen im Altbau\n\nDer Einbau einer Wärmepumpe kostet im Mittel 27.500 Euro. "
        "Die Gemeinde erstattet 40 Prozent der Kosten.\n\n## Lärm\n\nDas Außengerät darf nachts nicht lauter als "
        "35 Dezibel sein. Beschwerden über den Lärm gab es in 14 Fällen.",
        "bericht.md": "# Bericht des Stadtrats\n\nSeit 2023 sind die Preise für Wärmepumpen um 13 Prozent gestiegen. "
        "In Nordau wurden 212 Wärmepumpen eingebaut.",
    },
    "fr": {
        "piscine.md": "# Règlement de la piscine\n\nLa piscine est ouverte du 1er mai au 30 septembre. L'entrée "
        "coûte 4,50 euros pour les adultes.\n\n## Sécurité\n\nUn maître-nageur surveille le bassin de 10 heures à "
        "19 heures. Il est interdit de courir au bord du bassin.",
        "journal.md": "# Le Journal\n\nLa piscine a reçu 18 400 visiteurs en 2022..",
    },
    "zh": {
        "shuichang.md": "# 月湖水厂年度报告\n\n月湖水厂于2015年投入运行，每天向城市供应12万吨饮用水。"
        "2022年，水厂的供水成本为每吨1.85元。\n\n## 能耗\n\n水厂每年用电约2100万千瓦时。",
        "xinwen.md": "# 月湖晚报\n\n市民担心夏季藻类影响饮用水的味道。水厂将建成新的除藻设施。",
    },
}
ASKED = [
    (
        "de",
        "Was kostet der Einbau einer Wärmepumpe, und wie laut darf das Außengerät sein?",
        ["27.500 Euro", "35 Dezibel"],
        ["## Kurzantwort", "## Quellen", "„Der Einbau einer Wärmepumpe kostet", "Kein Sprachmodell war beteiligt."],
    ),
    (
        "fr",
        "Combien coûte l'entrée pour les adultes, et qui surveille le bassin ?",
        ["4,50 euros", "maître-nageur"],
        ["## Réponse courte", "«\u00a0Un maître-nageur", "Aucun modèle de langage n'est intervenu."],
    ),
    (
        "zh",
        "水厂的供水成本是多少，每年用电多少？",
        ["每吨1.85元", "2100万千瓦时"],
        ["## 简要回答", "## 来源", "没有语言模型参与。"],
    ),
]
ENGLISH = ("Short answer", "Methodology", "Confidence", "No language model", "Limitations")


def given(shell: User, language: str) -> None:
    for name, text in TEXTS[language].items():
        shell.write(f"{language}/{name}", text)


@pytest.mark.parametrize(("language", "question", "answers", "fixed"), ASKED)
def test_a_question_is_answered_in_its_language(
    language: str, question: str, answers: list[str], fixed: list[str], shell: User
) -> None:
    given(shell, language)
    shell.run("run", question, "--library", language, "--run-id", "asked", "--out", "out")

    report = json.loads((shell.folder / "out" / "report.json").read_text())
    markdown = (shell.folder / "out" / "report.md").read_text()
    summary = json.dumps(report["short_answer"], ensure_ascii=False)
    assert report["language"] == language
    assert all(answer in summary for answer in answers)
    assert all(text in markdown for text in fixed)
    assert not any(word in markdown for word in ENGLISH)
    assert shell.run("verify", "asked", "--json").json["invalid"] == 0


def test_a_question_that_nothing_answers_says_so_in_its_language(shell: User) -> None:
    given(shell, "de")
    shell.run("run", "Welche Oper schrieb Rossini 1816?", "--library", "de", "--run-id", "asked", "--out", "out")
    markdown = (shell.folder / "out" / "report.md").read_text()
    assert "## Nicht gefunden" in markdown
    assert "Gesucht wurde nach" in markdown


def test_a_language_without_a_table_is_named_in_the_limitations(shell: User) -> None:
    shell.write("cs/cerpadlo.md", "# Tepelná čerpadla\n\nTepelné čerpadlo stojí v průměru 300 000 korun.")
    shell.run("run", "Kolik stojí tepelné čerpadlo?", "--library", "cs", "--language", "cs", "--out", "out")
    report = json.loads((shell.folder / "out" / "report.json").read_text())
    assert any("no table of fixed words for the language “cs”" in line for line in report["limitations"])
    assert "300 000 korun" in json.dumps(report["short_answer"], ensure_ascii=False)
