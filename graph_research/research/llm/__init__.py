"""Requests to language models: prompts, structured calls, failover, prompt fitting, usage."""
