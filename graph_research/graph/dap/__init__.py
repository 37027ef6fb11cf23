"""The Debug Adapter Protocol: a `Debugger` for editors, over standard input and output or a port of this machine."""
