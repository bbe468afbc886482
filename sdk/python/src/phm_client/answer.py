"""Distinguishes responses of the service, its errors, and responses of other servers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar, cast

import httpx

from .binding import RecentKeys, is_sealed, keys_of
from .call import Call
from .decode import Mismatch, decode
from .errors import (
    FieldError,
    PhmApiError,
    PhmError,
    PhmKeyLostError,
    PhmResponseError,
    ResponseErrorCode,
)
from .options import is_key_id, is_request_id
from .retry import read_retry_after

T = TypeVar("T")

_JsonObject = Mapping[str, Any]

# Longest part of a header that a message quotes.
_MAX_QUOTED = 200


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for a request, and what was sent for it. ``repr()`` hides the body."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    address: str
    sent_id: str
    """``X-Request-Id`` of the request."""
    recent: RecentKeys

    @property
    def stated_id(self) -> str | None:
        """``X-Request-Id`` of the response, if it has a usable one."""
        stated = self.headers.get("x-request-id", "")
        return stated if is_request_id(stated) else None

    @property
    def is_strangers(self) -> bool:
        """True if nothing shows that the response is the one to this request.

        Proxies refuse requests without an ID. The service refuses one that it cannot parse under an
        ID of its own, and closes the connection; a proxy removes that header.
        """
        if self.stated_id == self.sent_id:
            return False
        closes = self.headers.get("connection", "").lower() == "close"
        return 200 <= self.status < 300 or not (self.stated_id is None or closes)


def read_answer(reply: Reply, call: Call[T]) -> T | PhmError:
    """Return the response or an error.

    The error is returned, not raised: otherwise an exception of the parser, which quotes the body,
    would become its context.
    """
    parsed = _parse_object(reply.body)
    if isinstance(parsed, str):
        return _unusable(reply, "unexpected_form", parsed)
    is_answer = parsed is not None and _is_answer(reply.status, parsed, call)
    is_problem = parsed is not None and _is_problem(parsed)
    if (is_answer or is_problem) and reply.is_strangers:
        return _strangers(reply)
    if parsed is not None and is_answer:
        return _decoded(parsed, call, reply)
    if parsed is not None and is_problem:
        kind = PhmKeyLostError if parsed["code"] == "key_already_made" else PhmApiError
        return kind(
            status=reply.status,
            code=parsed["code"],
            title=parsed["title"],
            detail=parsed["detail"],
            errors=_field_errors(parsed.get("errors")),
            help=_help(parsed),
            request_id=reply.stated_id or reply.sent_id,
            retry_after_seconds=read_retry_after(reply.headers),
            key_ids=_key_ids(parsed),
            max_count=_max_count(parsed),
        )
    return _unusable(
        reply, "not_the_service", _describe(reply.status, reply.headers, reply.address)
    )


def _unusable(reply: Reply, code: ResponseErrorCode, message: str) -> PhmResponseError:
    return PhmResponseError(
        message,
        code=code,
        status=reply.status,
        request_id=reply.sent_id if code == "another_request" else reply.stated_id or reply.sent_id,
        retry_after_seconds=read_retry_after(reply.headers),
    )


def _strangers(reply: Reply) -> PhmResponseError:
    """Return the error for a response that does not repeat the ID of its request.

    It says nothing about this request, also if it is a refusal.
    """
    what = "has no X-Request-Id" if reply.stated_id is None else "belongs to another request"
    error = _unusable(
        reply,
        "another_request",
        f"the response of {reply.address} {what}, so nothing shows that it answers this call: "
        "a proxy on the way mixes up responses, or does not pass on X-Request-Id",
    )
    error.outcome_unknown = True
    return error


def _decoded(body: _JsonObject, call: Call[T], reply: Reply) -> T | PhmError:
    try:
        answer = decode(call.answer, body)
    except Mismatch as mismatch:
        message = (
            f"this client does not know the response: {mismatch}. "
            "Check that client and service have the same version"
        )
    else:
        problem = call.check(answer) if call.check else None
        if problem is None and keys_of(answer):
            says_so = reply.headers.get("idempotent-replayed", "").lower() == "true"
            replayed = says_so and is_sealed(answer)
            problem = reply.recent.problem(keys_of(answer), replayed=replayed)
        if problem is None:
            return answer
        message = f"the response of {reply.address} belongs to another request: {problem}"
        return _unusable(reply, "another_request", message)
    return _unusable(reply, "unexpected_form", message)


def _parse_object(body: bytes) -> _JsonObject | str | None:
    """Return the object; a text if it has a member twice; None if it is no JSON object."""
    repeated: list[str] = []

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            repeated.append("")
        return found

    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_refuse, object_pairs_hook=members)
    except (ValueError, RecursionError):
        return None
    if repeated:
        # Parsers differ in the value that they take (RFC 7493 §2.3).
        return "the response has a member twice in one object"
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
    return tuple(one for one in given if isinstance(one, str) and is_key_id(one))


def _help(body: _JsonObject) -> str | None:
    reference = body.get("help")
    return reference if isinstance(reference, str) else None


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
        host = url.host
    except (httpx.InvalidURL, UnicodeError):  # IDNA may refuse a name
        return ""
    port = "" if url.port is None else f":{url.port}"
    return f" to {_quoted(f'{url.scheme}://{host}{port}{url.path}')}"


def _quoted(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text[:_MAX_QUOTED])
