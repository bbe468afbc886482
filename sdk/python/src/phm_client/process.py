"""State that belongs to one process: connections, locks and queues must not survive a fork.

A fork copies them all. Two processes that read one connection get each other's answers, and a lock
that another thread held at the fork stays locked for ever.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Generic, TypeVar

S = TypeVar("S")

# A process ID alone is not unique: IDs are reused, and a new PID namespace starts again at 1.
_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


# Windows has no fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


def this_process() -> tuple[int, int]:
    """Return what identifies this process among its ancestors.

    The process ID also finds forks that Python did not make, and so has called no hooks for.
    """
    return os.getpid(), _forks


class PerProcess(Generic[S]):
    """One state for each process, made when the process first asks for it.

    It needs no lock, because a lock can be inherited in its locked state.
    """

    def __init__(self, make: Callable[[], S]) -> None:
        self._make = make
        self._states: dict[tuple[int, int], S] = {}

    def get(self) -> S:
        """Return the state of this process; forget those of its ancestors without closing them."""
        process = this_process()
        state = self._states.get(process)
        if state is None:
            # Threads may do this at once: all of them get the state that was stored first.
            state = self._states.setdefault(process, self._make())
            for other in list(self._states):
                if other != process:
                    self._states.pop(other, None)
        return state

    def existing(self) -> S | None:
        """Return the state of this process if it has one already."""
        return self._states.get(this_process())
