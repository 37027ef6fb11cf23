"""What users of the service bring: bundles and graphs."""
