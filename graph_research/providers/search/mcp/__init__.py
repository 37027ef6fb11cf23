"""Search with a tool of an MCP server."""
