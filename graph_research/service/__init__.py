"""The REST service: jobs of several users over HTTP, on one data home. Imports `app` and `jobs`; nothing imports it but
the command line."""
