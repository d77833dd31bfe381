"""GradBench's evals for this library, their reference implementations, and the suite's protocol."""
