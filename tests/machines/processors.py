"""Record the processor-dependent choices of libraries on other kinds of processors."""

# names of NumPy's dispatched features differ between its releases; the beginnings of names
_NEW = ("AVX512",)
_WIDE = (*_NEW, "X86_V4")
_ALL = (*_WIDE, "AVX2", "FMA3", "AVX", "F16C", "FMA4", "XOP", "SSE4", "SSSE3", "POPCNT", "X86_V3")

# For each machine: what NumPy lacks, OpenBLAS's kernels, what the C library lacks, LLVM's
# processor, and the beginnings of the names of what that lacks of this one's
MACHINES = {
    "sse": (_ALL, "Prescott", "AVX,AVX2,FMA,FMA4,AVX512F,ERMS", "nehalem", ("avx", "fma", "f16c")),
    "avx": (_ALL, "Sandybridge", "AVX2,FMA,FMA4,AVX512F", "sandybridge", ("avx2", "avx5", "fma")),
    "avx2": (_WIDE, "Haswell", "AVX512F,AVX512VL", "haswell", ("avx5",)),
    "zen": (_WIDE, "Zen", "AVX512F,AVX512VL", "znver2", ("avx5",)),
    "avx512": (_NEW, "SkylakeX", "", "skylake-avx512", ("avx512bf16", "avx512fp16", "amx")),
    # libraries that differ from each other: only one of them uses the vectors
    "plain-numpy": (_ALL, "Nehalem", "", "", ()),
    "plain-libraries": ((), "Prescott", "AVX,AVX2,FMA,FMA4,AVX512F", "nehalem", ("avx", "fma")),
}
