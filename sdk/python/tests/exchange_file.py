"""The scripted exchanges of sdk/exchanges, whose README.md defines them.

``test/sdk/exchange-file.ts`` reads them for the TypeScript client.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "exchanges"

Json = Any
Members = dict[str, Any]

STEP_MEMBERS = frozenset(
    (
        *("call", "args", "read", "times", "answers"),
        *("sends", "returns", "count", "fails", "at", "ends", "limits"),
    )
)


def _read(name: str) -> Json:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


# Named bodies, and texts of arguments.
BODIES: Members = _read("bodies.json")


def exchanges() -> list[Members]:
    """Return all exchanges as this client makes them."""
    files = sorted(path for path in FOLDER.glob("*.json") if path.name != "bodies.json")
    return [
        _for_client({**one, "file": path.stem})
        for path in files
        for written in _read(path.name)
        for one in _cases(written)
    ]


def _cases(written: Members) -> list[Members]:
    base = {name: value for name, value in written.items() if name != "cases"}
    if "cases" not in written:
        return [base]
    given = [{"name": one} if isinstance(one, str) else one for one in written["cases"]]
    return [
        {
            **_named(merge(base, one), one["name"]),
            "name": f"{base['name']}: {one['name']}",
        }
        for one in given
    ]


def _named(value: Json, name: str) -> Json:
    """Replace ``$name`` in every text."""
    if isinstance(value, str):
        return value.replace("$name", name)
    if isinstance(value, list):
        return [_named(one, name) for one in value]
    if isinstance(value, dict):
        return {key: _named(one, name) for key, one in value.items()}
    return value


def _for_client(written: Members) -> Members:
    differs = written.pop("differs", {})
    one = merge(written, differs.get("python", {}))
    if "steps" not in one:
        one["steps"] = [{name: one.pop(name) for name in STEP_MEMBERS & one.keys()}]
    unknown = one.keys() - {"name", "file", "client", "random", "steps"}
    assert not unknown, f"{one['name']}: {unknown}"
    return one


def merge(base: Members, over: Members) -> Members:
    """Return ``base`` with the members of ``over``: objects are merged, all else is replaced."""
    merged = dict(base)
    for name, value in over.items():
        old = merged.get(name)
        both = isinstance(old, dict) and isinstance(value, dict)
        merged[name] = merge(old, value) if both else value  # type: ignore[arg-type]
    return merged


def resolved(value: Json) -> Json:
    """Replace values that are written short: ``$``, ``$base64url`` and ``$repeat``."""
    if isinstance(value, list):
        return [resolved(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "$" in value:
        return resolved(BODIES[value["$"]])
    if "$base64url" in value:
        content = resolved(value["$base64url"])
        return base64url(json.dumps(content, sort_keys=True, separators=(",", ":")))
    if "$repeat" in value:
        start, text, times, *end = value["$repeat"]
        return "".join([start, text * times, *end])
    return {name: resolved(one) for name, one in value.items()}


def base64url(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
