"""Use cases on a finished report: leave a source out, change a sentence, undo, fetch the sources again, ask on."""
