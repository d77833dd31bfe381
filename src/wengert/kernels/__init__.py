"""Layer 1 · kernels: functions of raw arrays that NumPy lacks; they know nothing of derivatives."""
