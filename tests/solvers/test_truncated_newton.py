"""Newton's method by conjugate gradients: its last step."""

import numpy as np
import pytest

from hiperplano.solvers.lbfgs import State
from hiperplano.solvers.truncated_newton import Curvature, truncated_newton


class Parabola:
    """½·Σ curvature·θ²."""

    def __init__(self, curvature):
        self.curvature = np.array([curvature])

    def evaluate(self, theta):
        return 0.5 * float(np.sum(self.curvature * theta**2)), self.curvature * theta

    def curvature_at(self, theta):
        return Curvature(self.curvature, lambda vector: self.curvature * vector, lambda vector: vector / self.curvature)


def test_a_rounding_error_in_the_gradient_is_not_divided_by_a_small_curvature():
    state = State(np.ones((1, 2)), 1.0, np.full((1, 2), 1e-15))
    end = truncated_newton(Parabola([1.0, 1e-14]), state, tol=1e-8, max_steps=10, close=1e-10)
    np.testing.assert_array_equal(end.next_step, 0.0)


@pytest.mark.parametrize("close", [1e-4, 1e-10])
def test_the_last_step_without_a_pass_leads_to_the_minimum(close):
    problem = Parabola([1.0, 1e-3])
    theta = np.array([[3.0, -2.0]])
    end = truncated_newton(problem, State(theta, *problem.evaluate(theta)), tol=1e-4, max_steps=50, close=close)
    np.testing.assert_allclose(end.theta + end.next_step, 0.0, atol=close)
