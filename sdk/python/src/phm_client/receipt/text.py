"""One way to read the text of a file, whichever editor wrote it."""

from __future__ import annotations

import re

from .format_error import FormatError

# What UTF-16 and UTF-32 look like when they are read as UTF-8 or as Latin-1, with and without a
# byte order mark.
_UTF_16 = re.compile("\ufffd|\xff\xfe|\xfe\xff|.{0,3}\0", re.DOTALL)


class UnreadableError(ValueError):
    """A receipt, policy, key or opening that cannot be read.

    It is no verdict: the receipt may be right, in another encoding or file. The message is one
    sentence or two.
    """


def plain_text(content: str | bytes) -> str:
    """Return a text without its byte order mark, and with ``\\n`` at the end of its lines.

    Raises FormatError for another encoding than UTF-8.
    """
    text = content if isinstance(content, str) else _decoded(content)
    if text is None or _UTF_16.match(text):
        raise FormatError("it is not UTF-8 text, perhaps UTF-16: save it as UTF-8")
    return re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff"))


def _decoded(content: bytes) -> str | None:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def unreadable(what: str, reason: FormatError) -> UnreadableError:
    """Return the error that says what cannot be read, and why."""
    return UnreadableError(f"{what}: {str(reason).removesuffix('.')}.")
