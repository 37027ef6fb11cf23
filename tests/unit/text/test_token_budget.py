"""How much of a window a prompt may fill."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.text.tokens import WindowBudget, usable_tokens


@pytest.mark.requirement("B22")
def test_the_margin_is_taken_after_overhead_and_output() -> None:
    assert usable_tokens(200_000, overhead_tokens=60_000) == 119_000
    assert usable_tokens(100_000, reserved_tokens=20_000, safety_margin=0.25) == 60_000
    assert usable_tokens(32_000, overhead_tokens=60_000) == 0


@pytest.mark.requirement("B34")
def test_a_prompts_own_words_count_up_to_a_quarter_of_the_window() -> None:
    budget = WindowBudget.of(100_000, wanted_output_tokens=8_000)
    assert budget.material_tokens(10_000) == int((100_000 - 10_000 - 8_000) * 0.85)
    assert budget.material_tokens(40_000) == 100_000 - 8_000 - 40_000


@given(st.integers(1, 300_000), st.integers(1, 20_000), st.integers(0, 300_000))
def test_scaffold_material_and_output_never_exceed_the_window(window: int, output: int, scaffold: int) -> None:
    budget = WindowBudget.of(window, wanted_output_tokens=output)
    material = budget.material_tokens(scaffold)
    assert material == 0 or scaffold + material + budget.output_tokens <= window
