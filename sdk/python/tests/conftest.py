"""What tests share: a real service, named by the environment, and servers that follow a script."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from scripted import ScriptedServer, Step

from phm_client import PhmClient

API_KEY = "phmsk_live_ThisApiKeyMustNeverBeShown_abcdef"


@pytest.fixture(scope="session")
def service() -> str:
    url = os.environ.get("PHM_URL")
    if url is None:
        pytest.skip("PHM_URL names no running service")
    return url


@pytest.fixture
def phm(service: str) -> Iterator[PhmClient]:
    with PhmClient(service, os.environ["PHM_API_KEY"]) as client:
        yield client


@pytest.fixture
def answered() -> Iterator[Callable[..., tuple[PhmClient, ScriptedServer]]]:
    """Starts servers that answer by steps, each with a client."""
    servers: list[ScriptedServer] = []

    def start(*steps: Step, **options: Any) -> tuple[PhmClient, ScriptedServer]:
        server = ScriptedServer(*steps)
        servers.append(server)
        return PhmClient(server.address, **{"api_key": API_KEY, **options}), server

    yield start
    for server in servers:
        server.stop()
