"""Where sources disagree on a number or a date: same subject, attribute, unit and scope, other value."""

from graph_research.research.contradictions.find import find_contradictions
from graph_research.research.contradictions.statements import Frame, frames, same_statement
from graph_research.research.contradictions.types import Conflict, ConflictSide, SourceSentence

__all__ = ["Conflict", "ConflictSide", "Frame", "SourceSentence", "find_contradictions", "frames", "same_statement"]
