"""Revisions of a finished report: what the user changed after the run, and the state that the report is then made of.

A revision is data. `revised` applies the revisions of a run to its committed state, which stays as it is."""
