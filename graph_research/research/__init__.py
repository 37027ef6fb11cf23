"""The research: models, agents, scoring, gates, citations and reports on top of the engine."""
