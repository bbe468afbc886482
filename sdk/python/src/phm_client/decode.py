"""Builds the dataclasses of a response from its JSON."""

from __future__ import annotations

import dataclasses
import re
import sys
import types
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from .options import is_key_id

T = TypeVar("T")


class Mismatch(Exception):
    """A member is missing or has another type. The text names the member, never its value."""


def decode(kind: type[T], value: object) -> T:
    """Return ``value``, parsed JSON, as the dataclass ``kind``.

    Ignores unknown members. A Literal may have values that it does not list, because a newer
    service may have more. Raises Mismatch.
    """
    return cast(T, _decoder(cast(Any, kind))(value, ""))


# The largest double, in which other parsers hold numbers (RFC 8259 §6).
_MOST = sys.float_info.max

_PLAIN = (bool, int, float, str)

_Decode = Callable[[object, str], Any]


@cache
def _decoder(hint: Any) -> _Decode:
    if dataclasses.is_dataclass(hint):
        return _object(cast(type, hint))
    origin, arguments = get_origin(hint), get_args(hint)
    if dataclasses.is_dataclass(origin):
        return _object(cast(type, origin), arguments)
    if origin is Literal:
        return _plain(*(one for one in _PLAIN if any(type(value) is one for value in arguments)))
    if origin in (Union, types.UnionType):
        return _union(arguments)
    if origin is tuple:
        return _list(_decoder(arguments[0]))
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(_decoder(arguments[1]))
    return _time if hint is datetime else _plain(hint)


def _object(kind: type, arguments: tuple[Any, ...] = ()) -> _Decode:
    hints = get_type_hints(kind)
    for name, hint in hints.items():
        # A member of a generic class: `tuple[K, ...]` becomes a tuple of the given type.
        if getattr(hint, "__parameters__", ()):
            hints[name] = hint[arguments]
    members = [
        (one.name, _FORMS.get(one.name) or _decoder(hints[one.name]), _is_required(one))
        for one in dataclasses.fields(kind)
    ]

    def decode_object(value: object, at: str) -> Any:
        if not isinstance(value, dict):
            raise _mismatch(at, "an object", value)
        given = cast(dict[str, object], value)
        parts: dict[str, object] = {}
        for name, decode_member, required in members:
            if name in given:
                parts[name] = decode_member(given[name], f"{at}/{name}")
            elif required:
                raise Mismatch(f"{at}/{name} is missing")
        return kind(**parts)

    return decode_object


def _is_required(one: dataclasses.Field[Any]) -> bool:
    return one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING


def _union(arguments: tuple[Any, ...]) -> _Decode:
    """Return a decoder of a union: plain types, None, and one other type or tagged ones."""
    plain = tuple(one for one in arguments if one in _PLAIN)
    decode_plain = _plain(*plain)
    others = [one for one in arguments if one not in (*plain, types.NoneType)]
    decode_other = _tagged(others) if others else decode_plain
    nullable = types.NoneType in arguments

    def decode_union(value: object, at: str) -> Any:
        if value is None and nullable:
            return None
        decode_this = decode_plain if plain and type(value) in _PLAIN else decode_other
        return decode_this(value, at)

    return decode_union


def _tagged(kinds: list[Any]) -> _Decode:
    """Return a decoder of dataclasses that ``type`` tells apart; the first by default."""
    first = _decoder(kinds[0])
    if len(kinds) == 1:
        return first
    tags = {tag: one for one in kinds for tag in get_args(get_type_hints(one)["type"])}

    def decode_tagged(value: object, at: str) -> Any:
        given = cast("dict[str, object]", value) if isinstance(value, dict) else {}
        kind = tags.get(given.get("type"))
        return (first if kind is None else _decoder(kind))(value, at)

    return decode_tagged


def _list(decode_item: _Decode) -> _Decode:
    def decode_list(value: object, at: str) -> Any:
        if not isinstance(value, list):
            raise _mismatch(at, "a list", value)
        items = cast(list[object], value)
        return tuple(decode_item(item, f"{at}/{i}") for i, item in enumerate(items))

    return decode_list


def _mapping(decode_value: _Decode) -> _Decode:
    def decode_mapping(value: object, at: str) -> Any:
        if not isinstance(value, dict):
            raise _mismatch(at, "an object", value)
        members = cast(dict[str, object], value)
        # The path ends here, because the names come from the response.
        return {name: decode_value(member, f"{at}/*") for name, member in members.items()}

    return decode_mapping


# RFC 3339, of which Python 3.10 reads only six digits of a fraction, and no "Z".
_TIME = re.compile(
    r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})", re.ASCII
)


def _time(value: object, at: str) -> datetime:
    found = _TIME.fullmatch(value) if isinstance(value, str) else None
    if found is not None:
        seconds, fraction, offset = found.groups()
        micros = (fraction or "").ljust(6, "0")[:6]
        with suppress(ValueError):
            return datetime.fromisoformat(f"{seconds}.{micros}{offset.replace('Z', '+00:00')}")
    raise _mismatch(at, "a date-time", value)


def _time_text(value: object, at: str) -> str:
    """Accept a time that stays a text, because it was signed so."""
    _time(value, at)
    return cast(str, value)


def _key_id(value: object, at: str) -> str:
    """Accept a key ID and nothing else, such as the escape of a terminal."""
    if isinstance(value, str) and is_key_id(value):
        return value
    raise _mismatch(at, "a key ID", value)


# Members whose texts have one form, wherever they are.
_FORMS: dict[str, _Decode] = {"key_id": _key_id, "time": _time_text}


def _plain(*kinds: type) -> _Decode:
    def decode_plain(value: object, at: str) -> Any:
        kind = type(value)
        is_float = kind is int and int not in kinds and float in kinds
        if kind not in kinds and not is_float:
            raise _mismatch(at, _names(kinds), value)
        if kind in (int, float) and abs(cast(float, value)) > _MOST:
            raise Mismatch(f"{at} is too large a number")
        return float(cast(int, value)) if is_float else value

    return decode_plain


def _names(kinds: tuple[type, ...]) -> str:
    return " or ".join(kind.__name__ for kind in kinds)


def _mismatch(at: str, expected: str, value: object) -> Mismatch:
    return Mismatch(f"{at or '/'} is not {expected} but {type(value).__name__}")
