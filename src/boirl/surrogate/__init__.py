"""The Gaussian process that learns NLL(theta) from evaluations."""

from boirl.surrogate.fitted import FittedSurrogate
from boirl.surrogate.fitting import Surrogate
from boirl.surrogate.kernels import KERNELS, KernelSpec, get_kernel
from boirl.surrogate.observations import Observations

__all__ = ["KERNELS", "FittedSurrogate", "KernelSpec", "Observations", "Surrogate", "get_kernel"]
