"""Entry point of the command: language, errors as one paragraph, exit codes.

This module imports nothing heavy, so that `--help` answers at once.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence

from hiperplano.messages.catalogue import LANGUAGES, preferred_language, translator, use_language

_ = translator("terminal")

OK, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130
_NEEDED = ("typer", "rich", "pandas", "pyarrow", "skops", "jinja2")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. The exit code is 0 for success, 1 for a failure, 2 for wrong use, and 130 for Ctrl-C.

    Parameters
    ----------
    arguments : sequence of str, optional
        Arguments; those of the process by default.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    with use_language(_language(given)):
        try:
            code = _run(given)
        except KeyboardInterrupt:
            code = INTERRUPTED
        if code == INTERRUPTED:
            _print_error(_("Stopped. Files that were being written are as they were before."))
        return code


def _language(arguments: list[str]) -> str:
    """The language of --lang, or of the locale; it must be known before any help is written."""
    for place, argument in enumerate(arguments):
        name, sign, value = argument.partition("=")
        if name == "--lang":
            wanted = value if sign else "".join(arguments[place + 1 : place + 2])
            if wanted in LANGUAGES:
                return wanted
    return preferred_language()


def _run(arguments: list[str]) -> int:
    try:
        from hiperplano.cli.app import run
    except ImportError as problem:
        if (problem.name or "").partition(".")[0] not in _NEEDED:
            raise
        _print_error(
            _(
                "the package {name} is not installed; the command needs it. Run: pip install 'hiperplano[app]'",
                name=problem.name,
            )
        )
        return FAILED
    try:
        return run(arguments)
    except (Exception, Warning) as problem:
        # While a class is being defined, Python 3.11 turns Ctrl-C into another error.
        if isinstance(problem.__cause__, KeyboardInterrupt):
            return INTERRUPTED
        if "--debug" in arguments:
            raise
        return _report_error(problem)


def _report_error(problem: BaseException) -> int:
    """Print an error as one paragraph."""
    from hiperplano.errors import HiperplanoError
    from hiperplano.messages import translate

    if isinstance(problem, BrokenPipeError):  # the reader of a pipe, such as `head`, has closed it
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    if isinstance(problem, HiperplanoError):
        _print_error(translate(problem))
    elif isinstance(problem, ImportError) and (problem.name or "").partition(".")[0] in _NEEDED:
        _print_error(
            _(
                "the package {name} is not installed; the command needs it. Run: pip install 'hiperplano[app]'",
                name=problem.name,
            )
        )
    elif isinstance(problem, OSError):
        _print_error(
            _(
                "{file}: {why}. Check the path, and whether there is space and permission to write.",
                file=problem.filename or "?",
                why=problem.strerror or problem,
            )
        )
    elif isinstance(problem, MemoryError):
        _print_error(_("the table does not fit into memory. Leave out rows, or columns with --drop."))
    else:
        _print_error(
            _(
                "internal error ({kind}: {why}). Run the command again with --debug and report what it prints.",
                kind=type(problem).__name__,
                why=problem,
            )
        )
    return FAILED


def _print_error(text: str) -> None:
    from hiperplano.messages.printable import printable

    paragraph = printable(" ".join(text.split()))
    print(_("Error: {text}", text=paragraph), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
