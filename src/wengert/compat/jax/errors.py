"""Layer 9 · compat: the errors of `jax.errors`, as types.

JAX raises them when a program decides by values that are not known while it is traced. Nothing is
traced here, functions run on values, so the first five come up under `vmap` only, where a value
stands for a whole batch; programs may name and catch all of them.
"""

from __future__ import annotations

from wengert.compat.kit.namespaces import defined


class JAXTypeError(TypeError):
    """Base class for errors about values that are not known."""


class ConcretizationTypeError(JAXTypeError):
    """A value was asked for that is not known: it differs within a batch."""


class TracerArrayConversionError(JAXTypeError):
    """An array that a transform follows was about to become a plain NumPy array."""


class TracerBoolConversionError(ConcretizationTypeError):
    """A program was about to decide by a value that differs within a batch."""


class TracerIntegerConversionError(JAXTypeError):
    """A value that differs within a batch was about to be used as a Python index."""


class NonConcreteBooleanIndexError(JAXTypeError, IndexError):
    """A mask that differs within a batch was used as an index, so that sizes would differ."""


class UnexpectedTracerError(JAXTypeError):
    """A value was used outside of the transform that it belongs to."""


class InconclusiveDimensionOperation(Exception):
    """Shapes are numbers here: this is never raised."""


class KeyReuseError(RuntimeError):
    """The reuse of random keys is not looked for: this is never raised."""


class JaxRuntimeError(RuntimeError):
    """A computation failed while it ran."""


JAXRuntimeError = XlaRuntimeError = JaxRuntimeError

__all__ = [*defined(globals()), "JAXRuntimeError", "XlaRuntimeError"]
