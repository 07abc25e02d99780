# The two commands a newcomer needs are `make quick` and `make test`; both do all the set-up that is still to do.
# `make help` lists the rest. Set-up leaves a stamp for each step, so that a second call does none of it again.

SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CARGO_TARGET_DIR ?= target
export CARGO_TARGET_DIR
STAMPS := $(CARGO_TARGET_DIR)/stamps
# What was compiled once serves every process, also where the environment asks for no bytecode.
unexport PYTHONDONTWRITEBYTECODE
SOURCES := Cargo.toml Cargo.lock $(shell find workers observers -type f -not -path '*/tests/*' 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help quick setup test-setup workers test check check-python check-rust check-cpp check-schemas check-supply check-docs test-python test-rust test-guest fuzz soak soak-fleet \
	sanitize conformance conformance-debian13 format schemas papers requirements sbom docs dist test-dist dist-arm64 bench bench-peers bench-analysis bench-fleet clean

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-20s %s\n", $$1, $$2}'

quick: setup ## set up, measure all middlewares side by side for 4 minutes, say where the report is
	@$(BIN)/middlemark run quick

# --- set-up ---------------------------------------------------------------------------------------------------------

STEPS := run-packages python workers

setup: ## Debian packages, Python environment, workers
	@$(MAKE) --silent --no-print-directory --jobs=2 $(STEPS:%=$(STAMPS)/%)

# What tests need beside it, while the compiler or the network is waited for.
test-setup:
	@$(MAKE) --silent --no-print-directory --jobs=4 $(STEPS:%=$(STAMPS)/%) $(STAMPS)/test-packages $(STAMPS)/sbom-python

workers: $(STAMPS)/workers ## build the workers

$(STAMPS)/toolchains:
	@PYTHON=$(PYTHON) setup/toolchains.sh && mkdir -p $(STAMPS) && touch $@

$(STAMPS)/%-packages: setup/debian/packages.txt | $(STAMPS)/toolchains
	@setup/debian/install.sh $* && touch $@

$(STAMPS)/python: setup/requirements/run.txt setup/requirements/dev.txt pyproject.toml | $(STAMPS)/toolchains $(STAMPS)/run-packages
	@echo "setup: Python environment in $(VENV)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r setup/requirements/dev.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@$(BIN)/python setup/pages/man.py $(VENV)/share/man/man1
	@touch $@

# Packages are installed by one at a time.
$(STAMPS)/test-packages: | $(STAMPS)/run-packages

$(STAMPS)/sbom-python: setup/requirements/sbom.txt $(STAMPS)/python
	@$(PYTHON) -m venv $(VENV)/sbom
	@$(VENV)/sbom/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(STAMPS)/workers: $(SOURCES) setup/workers.py $(wildcard setup/supply/*.py) | $(STAMPS)/toolchains $(STAMPS)/run-packages
	@$(PYTHON) setup/workers.py build && $(PYTHON) setup/supply/notices.py && touch $@

# --- tests ----------------------------------------------------------------------------------------------------------

test: test-setup check test-rust conformance test-python ## set up, then all checks and tests

test-rust: setup ## unit tests of the contract, the runtime and the workers, and models of what threads share
	cargo test --release --locked --quiet -p middlemark-contract -p middlemark-runtime --features middlemark-runtime/harness
	cargo test --release --locked --quiet -p middlemark-runtime -p middlemark-ring --features middlemark-runtime/loom,middlemark-ring/loom --lib models
	$(PYTHON) setup/workers.py test

conformance: setup ## the suite that every worker must pass, after what a killed run has left was removed
	@$(BIN)/middlemark clean
	cargo test --release --locked -p middlemark-conformance

# FILTER chooses: `make conformance-debian13 FILTER=fastdds::tuned`.
conformance-debian13: $(STAMPS)/roots-packages ## the same over workers of newer libraries: those of Debian 13, in a root of their own (root; 1 GB of disk)
	@workers/conformance/debian13.sh $(FILTER)

sanitize: setup ## lifetimes of memory, and races between threads: Miri, AddressSanitizer, ThreadSanitizer (needs a nightly Rust)
	@setup/sanitize.sh

# All but those that measure time run side by side: they mostly wait, so that a machine of few CPUs runs two on each.
# Whoever has none left takes some from another; a thread of polars is enough for each, as the CPUs have other tests.
AT_ONCE ?= $(shell n=$$(nproc); echo $$((n < 4 ? 2 * n : n)))

# What else the machine does can spoil a measurement: a test that fails is tried once more, and only the second failure
# counts. Both are shown, and more second tries than this fail the run: so many are no accident of the machine.
MOST_SECOND_TRIES ?= 3
define tried_twice
	POLARS_MAX_THREADS=1 $(BIN)/python setup/try_twice.py $(MOST_SECOND_TRIES) $(1)
endef

test-python: setup $(STAMPS)/test-packages $(STAMPS)/sbom-python ## tests of the front, and of the whole from suite to report
	$(call tried_twice,--numprocesses $(AT_ONCE) --dist worksteal -m "not timed and not guest")
	$(call tried_twice,-m timed)

test-guest: setup ## links by the kernel's netem, in an emulated guest whose kernel has it (3 minutes; says what it needs)
	$(BIN)/pytest -m guest tests/guest

# `make fuzz SEED=7` tries the same again; KINDS chooses: `make fuzz KINDS="suite claims"`.
SEED ?= $(shell date +%s)
FUZZ_SECONDS ?= 600

fuzz: setup ## try mutated inputs of every kind that others may have made (10 minutes; SEED, FUZZ_SECONDS, KINDS)
	@echo "seed $(SEED)"
	PYTHONPATH=tests/support:tests/support/guarded:tests/support/runs:tests/support/campaigns $(BIN)/python tests/fuzz/search.py $(SEED) $$(($(FUZZ_SECONDS) * 4 / 5)) $(KINDS)
	$(if $(KINDS),,$(BIN)/python tests/fuzz/native.py $(SEED) $$(($(FUZZ_SECONDS) / 5)))

SOAK_KILLS ?= 500
SOAK_SEED ?= $(shell date +%s)
SOAKS := src:tests/support:tests/support/guarded:tests/support/campaigns:tests/pipeline/kills

soak: setup ## kill anything of campaigns at random instants, and look for what is left (an hour, as root; SOAK_KILLS, SOAK_SEED)
	@echo "seed $(SOAK_SEED)"
	@folder=$$(mktemp -d) && PYTHONPATH=$(SOAKS) $(BIN)/python tests/pipeline/kills/soak.py $(SOAK_KILLS) $(SOAK_SEED) $$folder \
		&& rm -rf $$folder || { echo "what it found is in $$folder"; exit 1; }

FLEET_KILLS ?= 200
soak-fleet: setup ## kill test-beds, scheduler and front of a fleet in namespaces at random instants (root; FLEET_KILLS, SOAK_SEED)
	@echo "seed $(SOAK_SEED)"
	@folder=$$(mktemp -d) && PYTHONPATH=$(SOAKS):tests/pipeline $(BIN)/python tests/pipeline/kills/fleet_soak.py $(FLEET_KILLS) $(SOAK_SEED) $$folder \
		&& rm -rf $$folder || { echo "what it found is in $$folder"; exit 1; }

CHECKS := check-rust check-cpp check-python check-schemas check-supply check-docs

check: setup ## formats, lints, types, layers, schemas, what others supply, documentation
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target $(CHECKS)

check-rust: setup
	cargo fmt --check
	$(PYTHON) setup/workers.py lint

check-cpp: setup
	@bench/peers/programs/build.sh --check

check-python: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check-schemas: setup
	@setup/schemas.sh --check

check-supply: setup ## licences, sources and notices; known vulnerabilities, where their databases can be reached
	@PATH="$(CURDIR)/$(BIN):$$PATH" cargo deny --locked --log-level error check licenses bans sources
	@$(BIN)/python setup/supply/advisories.py
	@$(PYTHON) setup/supply/notices.py --check

check-docs: setup
	$(BIN)/mkdocs build --strict --quiet --site-dir $(CARGO_TARGET_DIR)/site

bench: setup ## the harness's own cost and error, and the baselines beside bare loops
	cargo run --release --locked --quiet -p middlemark-bench
	cargo build --release --locked --quiet -p middlemark-worker-iceoryx2 -p middlemark-reference-iceoryx2 || true
	$(BIN)/python bench/instructions.py
	$(BIN)/python bench/known_answers.py

# PEERS chooses: `make bench-peers PEERS="udp cyclonedds/ddsperf --blocks 20"`.
bench-peers: setup $(STAMPS)/bench-packages ## compare our workers with other tools, in alternation (an hour; an idle machine)
	@bench/peers/programs/build.sh
	$(BIN)/python bench/peers/compare.py $(PEERS)

bench-analysis: setup ## time and memory of reports, lists and analysis, at 640 trials, 1000 runs and 100 million samples (5 GB of disk)
	PYTHONPATH=tests/support:tests/support/runs $(BIN)/python bench/stored.py
	PYTHONPATH=tests/support:tests/support/runs $(BIN)/python bench/analysis.py
	PYTHONPATH=tests/support:tests/support/runs $(BIN)/python bench/analysis.py --one-trial
	PYTHONPATH=tests/support:tests/support/runs $(BIN)/python bench/analysis.py --pipeline 1 10

bench-fleet: setup ## what 1000 test-beds cost their front, up to 100 000 trials, with a scheduler that has all at once (some minutes, in /dev/shm)
	@folder=$$(mktemp -d -p /dev/shm) && TMPDIR=$$folder PYTHONPATH=tests/support:tests/support/runs $(BIN)/python bench/fleet.py; status=$$?; rm -rf $$folder; exit $$status

# --- to install elsewhere -------------------------------------------------------------------------------------------

dist: setup ## one wheel of front, workers and observers, for machines without a compiler
	PYTHONPATH=setup/supply $(BIN)/python setup/dist/build.py

# RELEASES chooses: `make test-dist RELEASES=trixie`.
test-dist: dist $(STAMPS)/roots-packages ## install the wheel in clean roots of Debian 12 and 13, and measure there (root; 20 minutes, 3 GB of disk)
	@setup/dist/try.sh $(RELEASES)

# FILTER chooses: `make dist-arm64 FILTER=zenoh::`.
dist-arm64: setup $(STAMPS)/arm64-packages ## cross-build the wheel for arm64, of what is Rust alone, and run its workers under qemu-user (says what it needs)
	@setup/dist/arm64.sh $(FILTER)

# --- for developers -------------------------------------------------------------------------------------------------

format: setup ## format all code
	cargo fmt
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

schemas: setup ## render the schemas and the models made from them again
	@setup/schemas.sh

papers: setup ## write the documentation of published evaluations again; RUNS="FOLDER…": with what these came to
	$(BIN)/python setup/pages/papers.py $(RUNS)

requirements: ## pin the Python requirements again (needs uv)
	cd setup/requirements && for set in run dev sbom image bench; do \
		uv pip compile --quiet --universal --generate-hashes --no-header --no-emit-index-url $$set.in -o $$set.txt || exit 1; done

sbom: setup $(STAMPS)/sbom-python ## bills of materials in CycloneDX, of the Python package and of each worker and observer: target/sbom
	@$(BIN)/python setup/supply/sbom.py

docs: setup ## serve the documentation on loopback
	$(BIN)/mkdocs serve

clean: ## remove what was built here, and what a killed campaign may have left on the machine
	@if [ -x $(BIN)/middlemark ]; then $(BIN)/middlemark clean; fi
	rm -rf $(VENV) $(CARGO_TARGET_DIR) site .mypy_cache .ruff_cache .pytest_cache .hypothesis
