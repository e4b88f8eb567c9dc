"""Mercer kernels: values that print as their formula, and can be added and multiplied."""

from hiperplano.kernels.algebra import Constant, Kernel, Product, Scaled, Sum
from hiperplano.kernels.distance import RBF, Laplacian
from hiperplano.kernels.feature_map import FeatureMap, Function, Precomputed
from hiperplano.kernels.inner_product import Exponential, Linear, Polynomial, Sigmoid
from hiperplano.kernels.matrix import KernelMatrix, gram
from hiperplano.kernels.resolve import resolve_kernel
from hiperplano.kernels.validity import GramValidity, is_valid_gram

__all__ = [
    "RBF",
    "Constant",
    "Exponential",
    "FeatureMap",
    "Function",
    "GramValidity",
    "Kernel",
    "KernelMatrix",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sigmoid",
    "Sum",
    "gram",
    "is_valid_gram",
    "resolve_kernel",
]
