"""What the user wishes of a report: how long, of which type, in which language, for whom."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from graph_research.research.models.record import Record, schema_field
from graph_research.text.language.tags import question_language

LENGTHS: Mapping[str, tuple[int, int]] = {"brief": (400, 900), "standard": (1_200, 2_500), "long": (3_000, 6_000)}
"""Words of the report's own text, from and to, by the name of the length."""

_SPREAD = 0.2
_WORDS_OF_A_STATEMENT = 50
_SHARE_OF_SUMMARY = 0.1
_WORDS_FOR_AN_ADDITION = 250
"""A report may get one sentence or row more for so many words."""
_WORDS_OF_AN_ADDITION = 28
MOST_OF_WORDS = 1.4
"""So many times the words that they should have a summary or conclusions may have."""
MOST_OF_A_SECTION = 2.0
"""So many times its words a section may have before it is sent back: of sections that are too long together the editor,
who sees them all, leaves out what is least useful."""
_MOST_OF_SUMMARY = 320
"""Words; a longer one is no short answer."""
_USUAL_OF_WORDS = 1.2
"""So many times the words that they should have sections usually have: models overrun what they are asked for."""


class ReportType(StrEnum):
    """The plan of a report: sections by the question's parts, a comparison, a timeline, a survey of a field, a memo."""

    REPORT = "report"
    COMPARISON = "comparison"
    TIMELINE = "timeline"
    SURVEY = "survey"
    MEMO = "memo"


class ReportOptions(Record):
    """`length` is `brief`, `standard`, `long` or a number of words; `language` a BCP 47 tag, null for the question's;
    `audience` who will read it, in the user's words."""

    length: str = schema_field("standard", pattern="^(brief|standard|long|[1-9][0-9]{1,4})$")
    type: ReportType = ReportType.REPORT
    language: str | None = None
    audience: str | None = None

    @property
    def words(self) -> tuple[int, int]:
        """The least and the most words that are asked for."""
        if self.length in LENGTHS:
            return LENGTHS[self.length]
        asked = int(self.length)
        return round(asked * (1 - _SPREAD)), round(asked * (1 + _SPREAD))

    @property
    def summary_words(self) -> int:
        """About so many words has the summary."""
        return min(self._summary_share, _MOST_OF_SUMMARY)

    @property
    def conclusion_words(self) -> int:
        """So many words have the conclusions at most: what is left to say, of each duty that is asked for, once summary
        and sections are written."""
        return round(self._summary_share / 2 / 10) * 10

    @property
    def _summary_share(self) -> int:
        return round(_SHARE_OF_SUMMARY * sum(self.words) / 2 / 10) * 10 + 40

    @property
    def most_additions(self) -> int:
        """So many sentences or rows at most are added to the written sections."""
        return sum(self.words) // 2 // _WORDS_FOR_AN_ADDITION

    @property
    def section_words(self) -> int:
        """The words asked of all sections together: as many as usually give no more than `most_section_words`."""
        return round(self.most_section_words / _USUAL_OF_WORDS)

    @property
    def most_section_words(self) -> int:
        """So many words all sections may have, so that with summary, conclusions and all additions the report has no
        more than are asked for."""
        own = self.summary_words + self.conclusion_words
        return self.words[1] - own - self.most_additions * _WORDS_OF_AN_ADDITION

    @property
    def least_proved(self) -> int:
        """So many proved statements carry a report of this length; one that has fewer may be filled up."""
        return self.section_words // _WORDS_OF_A_STATEMENT


def report_language(options: Mapping[str, object] | None, question: str) -> str:
    """The BCP 47 tag of the language that a report is written in: the wished one, else the question's."""
    wished = (options or {}).get("language")
    return str(wished) if wished else question_language(question)
