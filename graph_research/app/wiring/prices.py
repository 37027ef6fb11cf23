"""What models cost, from the settings."""

from __future__ import annotations

from graph_research.providers.llm.model_data import Price, Prices
from graph_research.settings.config import Settings


def prices_of(settings: Settings) -> Prices:
    """What models cost, by the table and the user's own prices."""
    own = settings.model_price_overrides.items()
    return Prices({name: Price(**{str(rate): usd for rate, usd in rates.items()}) for name, rates in own})
