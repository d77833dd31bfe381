"""Layer 2 · prims: complex numbers from two real ones."""

from wengert.kernels import parts as kernels
from wengert.prims.families import elementwise

elementwise(
    "complex",
    kernels.complex,
    lin=(lambda F, g: F.real(g), lambda F, g: F.imag(g)),
    promote=None,
    conj="explicit",
    doc="the complex number of a real and an imaginary part",
    tangents="linear",
    lacks="complex half",
)
elementwise(
    "polar",
    kernels.polar,
    lin=(
        lambda F, g, angle: F.real(F.conj(g) * F.complex(F.cos(angle), F.sin(angle))),
        lambda F, g, result: F.real(F.conj(g) * (result * 1j)),
    ),
    promote=None,
    conj="explicit",
    doc="the complex number of a length and an angle",
    tangents="parts",
    lacks="complex half",
)
