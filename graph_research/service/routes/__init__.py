"""The routes of the service, one file for each kind of resource."""
