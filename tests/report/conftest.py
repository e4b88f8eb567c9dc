"""A real browser for the tests of pages."""

from __future__ import annotations

import os
import shutil

import pytest

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser():
    """The Chromium on PATH, headless. Where checks must be complete (CI is set), its absence is a failure."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        why = "no chromium, chromium-browser or google-chrome on PATH; install one: apt-get install chromium"
        pytest.fail(why) if os.environ.get("CI") else pytest.skip(why)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=found, headless=True, args=_FLAGS)
        yield running
        running.close()
