"""Checks of arguments. No message quotes a value that may be secret."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import cast

import httpx

_KEY_ID = re.compile(r"phm_[1-9][0-9]{0,38}", re.ASCII)
# 32 bytes in base64 (RFC 4648 §4), with unused bits that are zero.
_COMMITMENT = re.compile(r"[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")

# Random characters that the client adds to a label, after a point.
REQUEST_ID_SUFFIX = 16
_LONGEST_LABEL = 100

# Longest wait in seconds that all platforms support.
_MAX_SECONDS = 2_147_483.0
_MAX_RETRIES = 100


class DefaultRetries(int):
    """A number of retries that the caller has not given: ``help`` shows it as a number."""


DEFAULT_RETRIES = DefaultRetries(3)


def check_base_url(base_url: str) -> str:
    """Return the URL without trailing slashes. Raises TypeError or ValueError."""
    check_text("base_url", base_url)
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL:
        url = httpx.URL("")
    if url.scheme not in ("http", "https") or not url.host or not 0 < (url.port or 80) < 65536:
        raise ValueError("base_url must be the URL of the service, such as https://keys.example")
    if url.userinfo or "?" in base_url or "#" in base_url:
        raise ValueError("base_url must have no user, password, query or fragment")
    return str(url).rstrip("/")


def check_api_key(api_key: str) -> str:
    """Return the API key. Raises ValueError if it cannot be the value of a header."""
    check_text("api_key", api_key)
    if not api_key:
        raise ValueError("api_key must not be empty: check where it comes from")
    if not re.fullmatch(r"[\x21-\x7e]+", api_key):
        raise ValueError("api_key must be printable ASCII without spaces: check for a line end")
    return api_key


def is_request_id(text: str) -> bool:
    """Return whether the service accepts this label."""
    return _REQUEST_ID.fullmatch(text) is not None


def check_request_id(request_id: str | None) -> None:
    """Raise TypeError or ValueError for a label that the service does not accept."""
    if request_id is None:
        return
    check_text("request_id", request_id)
    if not is_request_id(request_id) or len(request_id) > _LONGEST_LABEL:
        raise ValueError(
            f'request_id must be 1 to {_LONGEST_LABEL} letters, digits, ".", "_" or "-"'
        )


def read_labels(value: object) -> dict[str, str] | None:
    """Return the labels; None without any. Raises TypeError."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise TypeError(f"labels must be a mapping, got {type(value).__name__}")
    labels = cast("Mapping[object, object]", value)
    for name, text in labels.items():
        check_text("the name of a label", name)
        check_text("the value of a label", text)
    return dict(cast("Mapping[str, str]", labels)) or None


def written_time(name: str, value: object) -> str | None:
    """Return the time as text with its offset. Raises TypeError or ValueError."""
    if value is None:
        return None
    if not isinstance(value, datetime):
        raise TypeError(f"{name} must be a datetime, got {type(value).__name__}")
    if value.utcoffset() is None:
        raise ValueError(f"{name} must have an offset, such as datetime.now(timezone.utc)")
    return value.isoformat(timespec="milliseconds")


def check_text(name: str, value: object) -> None:
    """Raise TypeError for anything but a string."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, got {type(value).__name__}")


def check_include(value: object) -> None:
    """Raise TypeError for anything but a string and None."""
    if value is not None:
        check_text("include", value)


def read_include(value: object) -> list[str] | None:
    """Return the values of ``include``, which may be one string. Raises TypeError."""
    if value is None:
        return None
    several = isinstance(value, (tuple, list))
    values = cast("Sequence[object]", value) if several else (value,)
    for one in values:
        check_text("an item of include" if several else "include", one)
    return cast("list[str]", list(values))


def is_key_id(text: str) -> bool:
    """Return whether a text has the form of a key ID."""
    return _KEY_ID.fullmatch(text) is not None


def check_key_id(key_id: object) -> str:
    """Return the key ID. Raises TypeError or ValueError, which do not quote it: it may be a key."""
    check_text("key_id", key_id)
    text = cast(str, key_id)
    if not is_key_id(text):
        raise ValueError('key_id must be the one of a generated key: "phm_" and a decimal number')
    return text


def check_commitment(commitment: object) -> str:
    """Return the commitment. Raises TypeError or ValueError, which do not quote it."""
    check_text("key_commitment", commitment)
    text = cast(str, commitment)
    if not _COMMITMENT.fullmatch(text):
        raise ValueError(
            "key_commitment must be 32 bytes in base64, as in the header of a sealed key"
        )
    return text


def check_hook(name: str, value: object) -> None:
    """Raise TypeError for a value that cannot be called."""
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be callable, got {type(value).__name__}")


def check_bool(name: str, value: object) -> None:
    """Raise TypeError for anything but True and False."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {type(value).__name__}")


def check_http_client(value: object) -> None:
    """Raise TypeError for anything but a synchronous client of httpx."""
    if value is not None and not isinstance(value, httpx.Client):
        raise TypeError(f"http_client must be an httpx.Client, got {type(value).__name__}")


def check_seconds(name: str, value: object) -> float:
    """Return a timeout. Raises TypeError or ValueError."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number of seconds, got {type(value).__name__}")
    if not (math.isfinite(value) and 0 < value <= _MAX_SECONDS):
        raise ValueError(f"{name} must be more than 0 and at most {_MAX_SECONDS:.0f}, got {value}")
    return float(value)


def check_retries(value: object) -> int:
    """Return the number of retries. Raises TypeError or ValueError."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"max_retries must be a whole number, got {type(value).__name__}")
    if not 0 <= value <= _MAX_RETRIES:
        raise ValueError(f"max_retries must be from 0 to {_MAX_RETRIES}, got {value}")
    return value


def check_whole(name: str, value: object, most: int | None = None) -> int:
    """Return a number from 1 to ``most``. Raises TypeError or ValueError."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number, got {type(value).__name__}")
    if value < 1 or (most is not None and value > most):
        bound = "at least 1" if most is None else f"from 1 to {most}"
        raise ValueError(f"{name} must be {bound}, got {value}")
    return value


_DELIVERY_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

# Most deliveries of one request, most characters of a name, and longest wait in seconds.
_MOST_DELIVERIES = 100
_LONGEST_NAME = 64
_LONGEST_WAIT = 30


def check_delivery_id(delivery_id: object) -> str:
    """Return the ID of a delivery. Raises TypeError or ValueError."""
    check_text("delivery_id", delivery_id)
    text = cast(str, delivery_id)
    if _DELIVERY_ID.fullmatch(text):
        return text
    raise ValueError("delivery_id must be a lower-case UUID")


def check_delivery_ids(ids: object) -> list[str]:
    """Return the IDs of deliveries. Raises TypeError or ValueError."""
    if isinstance(ids, str) or not isinstance(ids, Sequence):
        raise TypeError("ids must be a sequence of IDs of deliveries")
    wanted = [check_delivery_id(one) for one in ids]
    if not 1 <= len(wanted) <= _MOST_DELIVERIES or len(set(wanted)) < len(wanted):
        raise ValueError(f"ids must be 1 to {_MOST_DELIVERIES} different IDs of deliveries")
    return wanted


def check_recipient_name(name: object) -> str:
    """Return the name of a registered recipient. Raises TypeError or ValueError."""
    check_text("recipient", name)
    text = cast(str, name)
    if 1 <= len(text) <= _LONGEST_NAME:
        return text
    raise ValueError("recipient must be the name of a registered recipient")


def check_wait(seconds: object) -> int | None:
    """Return whole seconds, 1 to 30, or None. Raises TypeError or ValueError."""
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, int):
        raise TypeError(f"wait must be whole seconds, got {type(seconds).__name__}")
    if 1 <= seconds <= _LONGEST_WAIT:
        return seconds
    raise ValueError(f"wait must be 1 to {_LONGEST_WAIT} seconds")
