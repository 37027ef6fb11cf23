"""The audit of anyone's report: each sentence that states a fact is compared with the documents of a library."""
