# make demo    train a network on handwritten digits, and check its gradient
# make test    style, types, documentation, tests and examples; in Python and compiled
# make python  the tests of `make test` on the package as it is in Python
# make native  compile what every operation goes through, and run the tests on that
# make slow    the tests that take long: every combination, where `make test` takes some
# make parity  the tests that compare with PyTorch, in an environment of their own
# make machines  the tests of numbers and all examples, as on other processors
# make matrix  the tests on the package as it is installed, on every Python and NumPy at hand
# make fuzz    search for bytes that break what reads files and text, a minute for each
# make mutants change the source here and there: some test should notice
# make docs    build the documentation into build/docs; warnings are errors
# make bench   measure, beside each of PyTorch, autograd, MyGrad and JAX that is installed
# make lint    style and types only
# make stubs   write what type checkers and editors read, from the package as it is
# make clean   remove the environments and what the tools left behind

PYTHON ?= python3
PIP = -m pip --disable-pip-version-check --quiet
# most of what the tests' environments hold is never imported: to compile it all takes as long as to
# install it
LAZILY = --no-compile

# Where no bytecode is written, each of hundreds of processes compiles what it imports
unexport PYTHONDONTWRITEBYTECODE

# A process for each core; those that are done take tests from the others. To rewrite the asserts
# of all tests takes as long as a tenth of them, and to watch what each logs a fiftieth: those that
# fail run again with full messages.
PYTEST = -m pytest -q -n auto --dist worksteal --assert=plain -p no:logging
AGAIN = -m pytest -q --last-failed --last-failed-no-failures=none

# What the compiled modules take part in: the tape, and what stands on it most closely. Idioms,
# kernels, batches, optimisers, pictures and the compiler of functions see no difference.
COMPILED = $(addprefix tests/,autograd func semantics table tape) \
	$(filter-out %/test_numpy_functions.py %/test_numpy_ufuncs.py,$(wildcard tests/tensor/*.py))
COMPILER := $(shell command -v $(CC))
# what was compiled and checked before, in any clone: builds by their content, and mypy's results,
# which it takes where a file's content is the same. To check all types takes a fifth of the tests.
CACHES = $(or $(XDG_CACHE_HOME),$(HOME)/.cache)
CACHE ?= $(CACHES)/wengert-native
TYPES ?= $(CACHES)/wengert-mypy

# The tests of the core, whose coverage `make coverage` measures
CORE = $(addprefix tests/,autograd func nn optim semantics tape) $(wildcard tests/tensor/*.py)

# Where tests are marked `torch`: to collect all others takes as long as a third of these
TORCH = tests/parity tests/semantics $(filter-out tests/parity/% tests/semantics/%, \
	$(shell grep -rl --include='test_*.py' 'mark\.torch' tests))

# What the processor's instructions and the libraries that choose by them can change: results
NUMBERS = src docs README.md $(addprefix tests/,amp autograd benchmarks bridge compiler func \
	implicit integrate kernels nn numpy ops optim semantics table tensor)

.PHONY: demo test python native slow parity coverage machines matrix fuzz mutants docs bench lint stubs clean

demo: .venv/installed
	.venv/bin/wengert demo

test: .venv/developing
	$(MAKE) --jobs=3 --output-sync=target lint docs $(if $(COMPILER),.venv/compiled)
	$(MAKE) python
	$(if $(COMPILER),$(MAKE) native,@echo \
		"make test: there is no C compiler ($(CC)): the compiled modules were NOT tested")

python: .venv/developing
	export WENGERT_NATIVE=0; .venv/bin/python $(PYTEST) -m "not slow and not torch" \
		|| { .venv/bin/python $(AGAIN); exit 1; }

coverage: .venv/developing
	WENGERT_NATIVE=0 .venv/bin/python $(PYTEST) -m "not slow" --cov --cov-report=term:skip-covered $(CORE)

native: .venv/compiled
	export WENGERT_NATIVE=1; .venv/bin/python $(PYTEST) -m "not slow and not torch" $(COMPILED) \
		|| { .venv/bin/python $(AGAIN); exit 1; }

slow: .venv/developing
	WENGERT_NATIVE=0 .venv/bin/python $(PYTEST) -m slow

parity: .venv-parity/installed
	export WENGERT_NATIVE=0 OMP_NUM_THREADS=1; .venv-parity/bin/python $(PYTEST) -m torch $(TORCH) \
		|| { .venv-parity/bin/python $(AGAIN); exit 1; }

machines: .venv/developing
	WENGERT_NATIVE=0 .venv/bin/python tests/machines -q -n auto --dist worksteal -m "not slow" $(NUMBERS)

matrix: .venv-matrix/installed
	.venv-matrix/bin/nox

fuzz: .venv/installed
	.venv/bin/python $(PIP) install --editable '.[fuzz]'
	for target in load load_entry einsum device command; do \
		.venv/bin/python tests/fuzz $$target || exit 1; done

mutants: .venv/developing
	.venv/bin/python tests/mutation known
	.venv/bin/python tests/mutation --count 200

docs: .venv/developing
	WENGERT_NATIVE=0 .venv/bin/python -m sphinx -n -W --keep-going -q -E -j auto -b html docs build/docs

bench: .venv/installed
	.venv/bin/wengert bench

lint: .venv/developing
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy --cache-dir $(TYPES)

stubs: .venv/developing
	.venv/bin/python stubs/exports.py
	.venv/bin/python stubs/generate.py

clean:
	rm -rf .venv .venv-parity .venv-matrix .nox src/wengert/native .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Each stamp says that an environment is as pyproject.toml asks; the package is installed in place,
# so that a change to its source needs no new installation.
.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "wengert needs Python 3.11")'
	$(PYTHON) -m venv .venv

.venv/installed: pyproject.toml | .venv/bin/python
	.venv/bin/python $(PIP) install --editable .
	.venv/bin/python -m compileall -q src
	touch $@

.venv/developing: pyproject.toml | .venv/bin/python
	.venv/bin/python $(PIP) install $(LAZILY) --editable '.[test,dev,docs,native]'
	.venv/bin/python -m compileall -q -j 0 src tests
	touch .venv/installed $@

.venv/compiled: .venv/developing $(wildcard native/* src/wengert/tape/*.p* src/wengert/prims/*.py)
	.venv/bin/python native/build.py --cache $(CACHE)
	touch $@

.venv-parity/installed: pyproject.toml
	$(PYTHON) -m venv .venv-parity
	.venv-parity/bin/python $(PIP) install $(LAZILY) --editable '.[test,parity]'
	touch $@

.venv-matrix/installed: pyproject.toml
	$(PYTHON) -m venv .venv-matrix
	.venv-matrix/bin/python $(PIP) install --editable '.[matrix]'
	touch $@
