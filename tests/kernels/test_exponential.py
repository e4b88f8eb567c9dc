"""Compiled exponentials against NumPy's in more digits."""

import numpy as np
import pytest

from hiperplano.kernels.exponential import exponentials


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["whole", "block", "columns"])
def test_error_is_a_unit_in_the_last_place(dtype, layout):
    least = np.log(np.finfo(dtype).tiny)
    x = np.concatenate([np.linspace(0.98 * least, 80.0, 3001), -np.logspace(-20, 1, 599)]).reshape(9, 400).astype(dtype)
    out = {"whole": x.copy(), "block": np.pad(x, 3)[3:-3, 3:-3], "columns": np.asfortranarray(x)}[layout]
    exponentials(out)
    exact = np.exp(x.astype(np.longdouble))
    np.testing.assert_allclose(out, exact.astype(dtype), rtol=1.1 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_has_lost_digits_is_zero_and_what_is_missing_stays_so(dtype):
    tiny = np.finfo(dtype).tiny
    out = np.array([[np.log(tiny) - 1.0, -1e9, -np.inf, 0.0, np.log(8.0 * tiny), np.nan]], dtype=dtype)
    exponentials(out)
    np.testing.assert_array_equal(out[0, :4], [0.0, 0.0, 0.0, 1.0])
    assert out[0, 4] > 4.0 * tiny
    assert np.isnan(out[0, 5])
