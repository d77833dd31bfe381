"""Layer 1 · kernels: functions of raw arrays that NumPy lacks; they know nothing of derivatives."""

from wengert.base.native import prefer_compiled as _prefer_compiled

_prefer_compiled(__path__)
