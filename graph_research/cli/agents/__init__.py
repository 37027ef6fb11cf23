"""For coding agents and chats: an MCP server, and a skill that tells how to drive the command line."""
