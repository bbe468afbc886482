"""The package as tools for Python see it."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "tool",
    [
        ["mypy", "--cache-dir=/dev/null", "src", "tests"],
        ["ruff", "check", "--no-cache", "src", "tests"],
        ["ruff", "format", "--no-cache", "--check", "src", "tests"],
    ],
    ids=" ".join,
)
def test_satisfies(tool: list[str]) -> None:
    """mypy is strict, by pyproject.toml, and takes the types of the installed package."""
    run = subprocess.run(
        [sys.executable, "-m", *tool], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_needs_one_package_and_one_more_for_receipts_and_sealed_keys() -> None:
    assert requires("phm-client") == [
        "httpx<1,>=0.27",
        "cryptography>=48; extra == 'receipts'",
        "cryptography>=48; extra == 'sealing'",
    ]
