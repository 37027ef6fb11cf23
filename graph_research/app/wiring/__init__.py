"""Building a run's collaborators from settings: models, searches, HTTP clients, handlers."""
