"""Plugin of pytest for the tests of scikit-learn: notes how each ended, and whether it made a model of ours."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from benchmarks.peer_tests import mirrored

_made: set[str] = set()
_results: dict[str, dict[str, Any]] = {}


def _noting(init: Callable[..., None], name: str) -> Callable[..., None]:
    @wraps(init)
    def noted(*args: Any, **kwargs: Any) -> None:
        _made.add(name)
        init(*args, **kwargs)

    return noted


def pytest_configure() -> None:
    for name, kind in mirrored().items():
        kind.__init__ = _noting(kind.__init__, name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any) -> Generator[None, Any, Any]:
    _made.clear()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any) -> Generator[None, Any, Any]:
    item.user_properties[:] = [("made", sorted(_made))]
    return (yield)


def pytest_runtest_logreport(report: Any) -> None:
    found = _results.setdefault(report.nodeid, {"outcome": "passed", "made": [], "message": ""})
    found["made"] = dict(report.user_properties).get("made", []) or found["made"]
    if report.failed:
        crash = getattr(report.longrepr, "reprcrash", None)
        found["outcome"], found["message"] = "failed", str(crash.message if crash else report.longrepr)
    elif report.skipped and report.when != "teardown" and found["outcome"] == "passed":
        found["outcome"] = "skipped"


def pytest_sessionfinish(session: Any) -> None:
    if not hasattr(session.config, "workerinput"):
        Path(os.environ["PEER_RESULTS"]).write_text(json.dumps(_results))
