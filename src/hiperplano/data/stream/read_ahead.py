"""Reads ahead: a thread produces the next items while the caller works on the current one."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Item = TypeVar("Item")


@contextmanager
def read_ahead(items: Iterator[Item], ahead: int) -> Iterator[Iterator[Item]]:
    """The same items, produced in a separate thread, at most `ahead` before they are requested.

    When the block is left, even by an error or Ctrl-C, the thread has ended and the items' generator is closed.
    """
    queue = _Queue(items, ahead)
    reader = threading.Thread(target=queue.fill, name="hiperplano-reader", daemon=True)
    reader.start()
    try:
        yield queue.drain()
    finally:
        queue.stop()
        reader.join()


class _Queue:
    """Queue between the producing and the consuming thread."""

    def __init__(self, items: Iterator[Any], ahead: int) -> None:
        self._items, self._ahead = items, ahead
        self._changed = threading.Condition()
        self._waiting: deque[Any] = deque()
        self._ended = self._stopped = False
        self._problem: BaseException | None = None

    def fill(self) -> None:
        """Produce items until there are no more, or until stopped."""
        try:
            for item in self._items:
                with self._changed:
                    self._waiting.append(item)
                    self._changed.notify_all()
                    self._changed.wait_for(lambda: self._stopped or len(self._waiting) < self._ahead)
                    if self._stopped:
                        break
        except BaseException as problem:  # raised again in the consumer
            self._problem = problem
        finally:
            close = getattr(self._items, "close", None)
            if close is not None:
                close()
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def drain(self) -> Iterator[Any]:
        """The items in their order."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._ended)
                if not self._waiting:
                    break
                item = self._waiting.popleft()
                self._changed.notify_all()
            yield item
            del item  # before waiting for the next one
        if self._problem is not None:
            raise self._problem

    def stop(self) -> None:
        """Let the thread end."""
        with self._changed:
            self._stopped = True
            self._waiting.clear()
            self._changed.notify_all()
