"""Builds the dataclasses of a response from its JSON."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")


class Mismatch(Exception):
    """A member is missing or has another type. The text names the member, never its value."""


def decode(kind: type[T], value: object) -> T:
    """Return ``value``, parsed JSON, as the dataclass ``kind``.

    Ignores unknown members. A Literal may have values that it does not list, because a newer
    service may have more. Raises Mismatch.
    """
    return cast(T, _decoder(cast(Any, kind))(value, ""))


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
        (one.name, _decoder(hints[one.name]), _is_required(one)) for one in dataclasses.fields(kind)
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
    """Return a decoder of a union: plain types, at most one other type, and None."""
    plain = tuple(one for one in arguments if one in _PLAIN)
    decode_plain = _plain(*plain)
    others = [_decoder(one) for one in arguments if one not in (*plain, types.NoneType)]
    decode_other = others[0] if others else decode_plain
    nullable = types.NoneType in arguments

    def decode_union(value: object, at: str) -> Any:
        if value is None and nullable:
            return None
        decode_this = decode_plain if plain and type(value) in _PLAIN else decode_other
        return decode_this(value, at)

    return decode_union


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


def _time(value: object, at: str) -> datetime:
    if isinstance(value, str):
        try:
            # Python 3.10 does not support "Z".
            return datetime.fromisoformat(value.replace("Z", "+00:00"))
        except ValueError:
            pass
    raise _mismatch(at, "a date-time", value)


def _plain(*kinds: type) -> _Decode:
    def decode_plain(value: object, at: str) -> Any:
        kind = type(value)
        if kind in kinds:
            return value
        if kind is int and float in kinds:
            return float(cast(int, value))
        raise _mismatch(at, _names(kinds), value)

    return decode_plain


def _names(kinds: tuple[type, ...]) -> str:
    return " or ".join(kind.__name__ for kind in kinds)


def _mismatch(at: str, expected: str, value: object) -> Mismatch:
    return Mismatch(f"{at or '/'} is not {expected} but {type(value).__name__}")
