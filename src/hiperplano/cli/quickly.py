"""What a process that is the command's own, and nobody else's, may do to be quick."""

from __future__ import annotations

import gc
from contextlib import suppress
from threading import Lock, Thread

_RARELY = 200_000  # objects made between two searches for cyclic garbage

_alone = False
_importing = Lock()


def begin_process() -> None:
    """Say that this process is the command's own.

    Python searches all that was imported for cyclic garbage, several times while it grows and once more at the end;
    there is none, and the searches take half as long as the imports.
    """
    global _alone
    _alone = True
    gc.set_threshold(_RARELY)


def end_process() -> None:
    """Nothing is searched on the way out."""
    gc.freeze()


def import_skops_aside() -> None:
    """Begin to import skops: nothing is saved before the fit is made, which leaves the interpreter to others."""

    def aside() -> None:
        with suppress(ImportError):  # told to whoever wants to save
            import_skops()

    Thread(target=aside, name="import skops").start()


def import_skops() -> None:
    """Import skops; where nobody else uses it, without all of scikit-learn.

    On import it loads every module of scikit-learn, with what these load in turn, to trust the estimators in them by
    name. `hiperplano.models.saving` knows these when it sees them, and asks skops for nothing but the others.
    """
    if not _alone:
        import skops.io

        return
    import sklearn.utils

    with _importing:
        every = sklearn.utils.all_estimators
        sklearn.utils.all_estimators = list
        try:
            import skops.io  # noqa: F401
        finally:
            sklearn.utils.all_estimators = every
