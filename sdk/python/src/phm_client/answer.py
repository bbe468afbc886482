"""Distinguishes responses of the service, its errors, and responses of other servers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar, cast

import httpx

from .call import Call
from .decode import Mismatch, decode
from .errors import FieldError, PhmApiError, PhmError, PhmKeyLostError, PhmResponseError
from .options import is_request_id
from .retry import read_retry_after

T = TypeVar("T")

_JsonObject = Mapping[str, Any]

# Longest part of a header that a message quotes.
_MAX_QUOTED = 200


def read_answer(
    status: int, headers: Mapping[str, str], body: bytes, call: Call[T], address: str
) -> T | PhmError:
    """Return the response in ``body``, or an error.

    The error is returned, not raised: otherwise an exception of the parser, which quotes the body,
    would become its context.
    """
    request_id = _request_id(headers, call.request_id)
    retry_after = read_retry_after(headers)
    parsed = _parse_object(body)
    if parsed is not None and _is_answer(status, parsed, call):
        return _decoded(parsed, call, status, request_id)
    if parsed is not None and _is_problem(parsed):
        kind = PhmKeyLostError if parsed["code"] == "key_already_made" else PhmApiError
        return kind(
            status=status,
            code=parsed["code"],
            title=parsed["title"],
            detail=parsed["detail"],
            errors=_field_errors(parsed.get("errors")),
            request_id=request_id,
            retry_after_seconds=retry_after,
            key_ids=_key_ids(parsed),
            max_count=_max_count(parsed),
        )
    return PhmResponseError(
        _describe(status, headers, address),
        status=status,
        request_id=request_id,
        retry_after_seconds=retry_after,
    )


def _decoded(body: _JsonObject, call: Call[T], status: int, request_id: str | None) -> T | PhmError:
    try:
        return decode(call.answer, body)
    except Mismatch as mismatch:
        message = (
            f"this client does not know the response: {mismatch}. "
            "Check that client and service have the same version"
        )
    return PhmResponseError(message, status=status, request_id=request_id)


def _request_id(headers: Mapping[str, str], own: str | None) -> str | None:
    stated = headers.get("x-request-id", "")
    return stated if is_request_id(stated) else own


def _parse_object(body: bytes) -> _JsonObject | None:
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return cast(_JsonObject, value) if isinstance(value, dict) else None


def _refuse(_constant: str) -> NoReturn:
    raise ValueError("NaN and Infinity are not JSON")


def _is_answer(status: int, body: _JsonObject, call: Call[Any]) -> bool:
    if 200 <= status < 300:
        return body.get("success") is True
    return status == call.also_answers and body.get("success") is False and not _is_problem(body)


def _is_problem(body: _JsonObject) -> bool:
    texts = (body.get("code"), body.get("title"), body.get("detail"))
    return body.get("success") is False and all(isinstance(text, str) for text in texts)


def _field_errors(errors: object) -> tuple[FieldError, ...]:
    given = cast(list[object], errors) if isinstance(errors, list) else []
    found: list[FieldError] = []
    for one in given:
        if not isinstance(one, dict):
            continue
        members = cast(dict[str, object], one)
        pointer, message = members.get("pointer"), members.get("message")
        if isinstance(pointer, str) and isinstance(message, str):
            found.append(FieldError(pointer, message))
    return tuple(found)


def _key_ids(body: _JsonObject) -> tuple[str, ...]:
    """Return ``key_ids`` of a batch, or ``key_id`` of a single key."""
    several = body.get("key_ids")
    given = cast("list[object]", several) if isinstance(several, list) else [body.get("key_id")]
    return tuple(one for one in given if isinstance(one, str))


def _max_count(body: _JsonObject) -> int | None:
    count = body.get("max_count")
    return count if type(count) is int else None


def _describe(status: int, headers: Mapping[str, str], address: str) -> str:
    if 300 <= status < 400:
        target = _redirect_target(headers.get("location"), address)
        return (
            f"{address} redirects{target}; redirects are not followed: "
            "set base_url to the address of the service itself"
        )
    kind = _quoted(headers.get("content-type", "no content type"))
    what = (
        "is not JSON of the PHM key service"
        if 200 <= status < 300
        else "does not come from the PHM key service"
    )
    return (
        f"the response of {address} {what} (status {status}, {kind}): "
        "check base_url, and the proxy if there is one"
    )


def _redirect_target(location: str | None, address: str) -> str:
    """Name the target without user, password, query and fragment, which may be secret."""
    if location is None:
        return ""
    try:
        url = httpx.URL(address).join(location)
    except httpx.InvalidURL:
        return ""
    port = "" if url.port is None else f":{url.port}"
    return f" to {_quoted(f'{url.scheme}://{url.host}{port}{url.path}')}"


def _quoted(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text[:_MAX_QUOTED])
