"""What is handed from agent to agent and kept in the state; one noun a file, each with a JSON Schema in `schemas/`."""
