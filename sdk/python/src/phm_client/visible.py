"""Makes every character of a text visible."""

from __future__ import annotations

import re

# Printable for Python, and displayed as nothing: Default_Ignorable_Code_Point of Unicode.
_IGNORED = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """Escape characters that act on a reader or a terminal instead of being read.

    These are control characters, marks of direction, separators of lines, and whatever is displayed
    as nothing. Escapes are those of a literal of Python.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(char) for char in text)


def _shown(char: str) -> str:
    if char.isprintable() and not _IGNORED.match(char):
        return char
    return char.encode("unicode_escape").decode("ascii")
