"""The agents of `graphs/topic_research.yaml`: they search, decide whether to go on, and read what was found."""
