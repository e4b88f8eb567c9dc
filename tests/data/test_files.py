"""A file that is being replaced, and Ctrl-C at every moment of it."""

import gc
import os
import sys

import pytest

from hiperplano.data.files import replacing


@pytest.fixture(autouse=True)
def _without_garbage_collection():
    """A collection calls what others have registered: an interruption of that is reported, and does not end work."""
    gc.disable()
    yield
    gc.enable()


def _write(path):
    with replacing(path) as new:
        os.truncate(new, 3)  # one call of the system: no handle of the test's own can be left open


def _is_interrupted(work, moment):
    """Whether `work` was still running at that count of bytecodes, where KeyboardInterrupt is raised."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        if count == moment:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_an_interruption_at_any_bytecode_leaves_the_old_file_or_the_new_one(tmp_path):
    path, moment, seen = tmp_path / "out.csv", 1, set()
    path.write_bytes(b"old")
    while _is_interrupted(lambda: _write(path), moment):
        assert os.listdir(tmp_path) == ["out.csv"], moment
        seen.add(path.read_bytes())
        path.write_bytes(b"old")
        moment += 1
    assert seen == {b"old", bytes(3)}
    assert moment > 100
