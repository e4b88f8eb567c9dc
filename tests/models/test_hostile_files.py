"""Files of strangers: refused in little memory, and so in little time, whatever they claim."""

import io
import json
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
from scipy import sparse

from hiperplano import LinearRegression, load, save
from hiperplano.errors import InvalidFile


@pytest.fixture
def parts(tmp_path):
    """The parts of the file of a model."""
    X = np.arange(12.0).reshape(6, 2) ** 2
    save(LinearRegression().fit(X, X[:, 0]), tmp_path / "good.skops")
    with zipfile.ZipFile(tmp_path / "good.skops") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def with_field(content, name, offset, layout, value):
    """The archive with another number in the local header and in the directory entry of a part."""
    content = bytearray(content)
    for signature, shift in ((b"PK\x03\x04", 0), (b"PK\x01\x02", 2)):
        start = 0
        while (start := content.find(signature, start)) >= 0:
            place = start + (30 if shift == 0 else 46)
            if content[place : place + len(name)] == name.encode():
                struct.pack_into(layout, content, start + offset + shift, value)
            start += 4
    return bytes(content)


def array_name(parts):
    return next(name for name in parts if name.endswith(".npy"))


def header(shape, dtype="<f8"):
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": dtype, "fortran_order": False, "shape": shape})
    return out.getvalue()


def nested(depth):
    return b'{"a":' * depth + b"1" + b"}" * depth


HOSTILE = {
    "nested JSON": lambda parts: packed(parts | {"schema.json": nested(200_000)}),
    "a schema that is no JSON": lambda parts: packed(parts | {"schema.json": b"\xff\xfe{"}),
    "a schema that is a list": lambda parts: packed(parts | {"schema.json": b"[1, 2]"}),
    "no schema": lambda parts: packed({name: parts[name] for name in parts if name != "schema.json"}),
    "a schema of 64 MiB": lambda parts: packed(parts | {"schema.json": b" " * 2**26}),
    "a schema that claims 1 GiB": lambda parts: with_field(packed(parts), "schema.json", 22, "<I", 2**30),
    "corrupt deflate": lambda parts: packed(parts).replace(packed(parts)[60:90], b"\xff" * 30, 1),
    "encrypted": lambda parts: with_field(packed(parts), "schema.json", 6, "<H", 1),
    "an unknown method": lambda parts: with_field(packed(parts), "schema.json", 8, "<H", 97),
    "LZMA": lambda parts: packed(parts, zipfile.ZIP_LZMA),
    "an array of 1 TiB": lambda parts: packed(parts | {array_name(parts): header((2**37,)) + bytes(64)}),
    "an array of 2⁸⁰ bytes": lambda parts: packed(parts | {array_name(parts): header((2**40, 2**40)) + bytes(64)}),
    "an array of objects": lambda parts: packed(parts | {array_name(parts): header((1,), "|O") + bytes(8)}),
    "an array without a header": lambda parts: packed(parts | {array_name(parts): b"no array"}),
    "a sparse matrix of 1 TiB": lambda parts: packed(parts | {"1.npz": packed({"data.npy": header((2**37,))})}),
    "an array that claims 1 GiB": lambda parts: with_field(packed(parts), array_name(parts), 22, "<I", 2**30),
    "another kind of part": lambda parts: packed(parts | {"run.py": b"print(1)"}),
    "cut short": lambda parts: packed(parts)[:-30],
    "empty": lambda parts: b"",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_refused_at_once(kind, parts, tmp_path):
    path = tmp_path / "model.skops"
    path.write_bytes(HOSTILE[kind](parts))
    tracemalloc.start()
    try:
        with pytest.raises(
            InvalidFile, match=r"(damaged|no file that hiperplano.save wrote)(.|\n)*a pickle is never opened"
        ):
            load(path)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 2**26


def test_a_saved_model_passes_and_so_do_sparse_matrices(parts, tmp_path):
    model = LinearRegression().fit(np.eye(5), np.arange(5.0))
    model.extra_ = sparse.csr_matrix(np.eye(4))
    save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(load(tmp_path / "model.skops").extra_.toarray(), np.eye(4))


def test_control_characters_of_a_file_do_not_come_out_in_the_error(parts, tmp_path):
    schema = json.loads(parts["schema.json"])
    schema["__module__"], schema["__class__"] = "evil\x1b[31m", "Thing"
    (tmp_path / "model.skops").write_bytes(packed(parts | {"schema.json": json.dumps(schema).encode()}))
    with pytest.raises(InvalidFile) as caught:
        load(tmp_path / "model.skops")
    assert "\x1b" not in str(caught.value)
