"""Check for optional packages."""

from __future__ import annotations

from importlib.util import find_spec

from hiperplano.errors import NotInstalled


def require(package: str) -> None:
    """Raise an error, with the command to run, if a package is not installed."""
    if find_spec(package) is None:
        raise NotInstalled(
            "the package {package} is not installed; this export needs it. Run: pip install {command}",
            package=package,
            command=package if package in ("duckdb", "onnxruntime") else "'hiperplano[export]'",
        )
