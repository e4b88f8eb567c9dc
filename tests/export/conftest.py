import os
import pwd
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.export.engines import Postgres


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server, where Debian's package is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    if os.geteuid() == 0 and (
        not shutil.which("runuser") or "postgres" not in {user.pw_name for user in pwd.getpwall()}
    ):
        pytest.skip("PostgreSQL does not run as root, and there is no user postgres to run it as")
    folder = Path(tempfile.mkdtemp(prefix="postgres"))  # the path of a socket has at most 107 letters
    server = Postgres(folder, found[-1].parent)
    yield server
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)
