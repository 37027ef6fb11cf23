"""Runs as OpenTelemetry traces, where the extra `otel` is installed and the environment names a receiver."""
