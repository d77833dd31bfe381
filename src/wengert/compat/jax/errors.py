"""Layer 9 · compat: the errors of `jax.errors`, as types.

JAX raises them when a program depends on values that are unknown during tracing. Functions run on
values here, so the first five are only raised under `vmap`, where a value stands for a whole batch.
Programs may name and catch all of them.
"""

from wengert.compat.kit.namespaces import defined


class JAXTypeError(TypeError):
    """Base class for errors about values that are not known."""


class ConcretizationTypeError(JAXTypeError):
    """The error for using a value that is not known because it differs within a batch."""


class TracerArrayConversionError(JAXTypeError):
    """The error for converting an array that a transform follows to a NumPy array."""


class TracerBoolConversionError(ConcretizationTypeError):
    """The error for branching on a value that differs within a batch."""


class TracerIntegerConversionError(JAXTypeError):
    """The error for using a value that differs within a batch as a Python index."""


class NonConcreteBooleanIndexError(JAXTypeError, IndexError):
    """The error for a boolean index that differs within a batch, whose result has no fixed size."""


class UnexpectedTracerError(JAXTypeError):
    """The error for using a value outside the transform that it belongs to."""


class InconclusiveDimensionOperation(Exception):
    """The error for comparing symbolic shapes; never raised here, since shapes are numbers."""


class KeyReuseError(RuntimeError):
    """The error for reusing random keys; never raised here, since reuse is not checked."""


class JaxRuntimeError(RuntimeError):
    """The error for a computation that failed while it ran."""


JAXRuntimeError = XlaRuntimeError = JaxRuntimeError

__all__ = [*defined(globals()), "JAXRuntimeError", "XlaRuntimeError"]
