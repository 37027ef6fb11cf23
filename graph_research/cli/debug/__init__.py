"""The `debug` command: terminal front end, editor front end, VS Code extension."""
