"""The agents that write the report: outline, sections, editing, verification, mending, assembly."""
