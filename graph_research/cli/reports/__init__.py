"""Commands on a finished report: changes of one's own, and the audit of anyone's."""
