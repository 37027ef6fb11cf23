"""Where sources disagree on a number or a date: same subject, attribute, unit and scope, other value."""

from graph_research.research.contradictions.conflict import Conflict, ConflictSide, Quoted
from graph_research.research.contradictions.find import find_contradictions
from graph_research.research.contradictions.frames import Frame, frames, same_statement

__all__ = ["Conflict", "ConflictSide", "Frame", "Quoted", "find_contradictions", "frames", "same_statement"]
