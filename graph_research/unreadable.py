"""Why a file that a user named cannot be read, in words instead of a number of the operating system."""

from __future__ import annotations

__all__ = ["why_unreadable"]


def why_unreadable(error: OSError | UnicodeDecodeError) -> str:
    """The reason as the end of a sentence, without the file's name."""
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start + 1} is no UTF-8 text"
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    if isinstance(error, IsADirectoryError):
        return "it is a folder"
    if isinstance(error, PermissionError):
        return "you have no permission to read it"
    return error.strerror or type(error).__name__
