"""How far the words of quotes carry a claim."""

from __future__ import annotations

from graph_research.research.evidence.claims import support_by
from graph_research.research.scoring.claim import LEAST_SUPPORT

GATES = "The lock gates of the harbour are opened an hour before high water and closed again at its turn."
TOLLS = "Boats of up to 12 metres pay 9 euros for each passage of the lock."


def test_a_claim_of_several_facts_in_other_words_rests_on_quotes_that_hold_most_of_its_words() -> None:
    claim = (
        "Gates of the harbour's lock open one hour before high water; a passage costs boats up to 12 metres 9 euros."
    )
    assert support_by([GATES, TOLLS], claim) > 0.5
    assert support_by(["Gulls nest on the northern cliffs from April on."], claim) < LEAST_SUPPORT
    assert support_by([], claim) == 0.0


def test_words_of_another_language_tell_nothing_against_a_claim() -> None:
    assert support_by([GATES], "Die Tore der Schleuse werden eine Stunde vor dem Hochwasser geöffnet.") == 1.0
