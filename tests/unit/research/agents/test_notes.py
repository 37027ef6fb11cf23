"""What the researchers' reading lacked, and what the evidence of others answers of it."""

from __future__ import annotations

from graph_research.research.agents.writing.notes import answered_by_words

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
