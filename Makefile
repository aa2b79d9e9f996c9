# Everything a person or a machine does with this checkout. `make` alone lists it.
# Two commands do all the set-up: `make league` and `make test`. Neither needs root.

PYTHON ?= python3
TESTS ?= tests
BIN := .venv/bin

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help venv league host bots test test-fast lint format types imports proto-lint check-generated coverage oracle mutants chaos host-chaos host-soak host-walk check-load bench scale proof error-rates variance docs clean

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r name what; do printf '  make %-16s %s\n' "$$name" "$$what"; done

# Stamps: each is made once, and again when pyproject.toml changes. They follow one another, so that under `make -j` too
# only one pip works at a time; and the later ones change nothing that the first has installed.
.venv/runtime.stamp: pyproject.toml .ci/install .ci/constraints.txt .ci/build-constraints.txt
	@PYTHON='$(PYTHON)' .ci/install runtime
	@touch $@

.venv/dev.stamp: .venv/runtime.stamp
	@.ci/install dev
	@touch $@

.venv/docs.stamp: .venv/dev.stamp
	@.ci/install docs
	@touch $@

venv: .venv/dev.stamp ## make .venv with everything for development

BUILT = $(wildcard $(foreach products,bin build dist target,sample_bots/*/*/$(products)))

league: .venv/runtime.stamp ## run a real league of sample bots, of every language that is built, and write its report
ifeq ($(BUILT),)
	@$(BIN)/referee run tournaments/kitchen.toml --new-season
	@echo 'Bots in other languages: make bots builds those that this machine has a compiler for, and make league plays them too.'
else
	@$(BIN)/referee run tournaments/languages.toml --new-season --trust-bots
endif

host: .venv/runtime.stamp ## run a ladder on the network, with the sample bots of every language that is built, until Ctrl-C
	@$(BIN)/referee host tournaments/host.toml

bots: .venv/runtime.stamp ## build the sample bots of every language that this machine has a compiler for
	@$(BIN)/referee build --network --quiet --skip-missing $(sort $(dir $(wildcard sample_bots/*/*/bot.toml)))

# --dist worksteal: a worker takes whole stretches of the tests, so that what a module's tests share is made once.
test: .venv/dev.stamp ## run the test suite (TESTS=tests/rules for a part of it)
	@$(BIN)/python -m pytest -n auto --maxprocesses 16 --dist worksteal $(TESTS)

FAST = tests/rules tests/oracle tests/umpire tests/protocol tests/statistics tests/test_cards.py tests/test_deals.py \
	tests/check/test_nothing.py::test_one_good_bot_does_not_hide_a_bad_one

test-fast: .venv/dev.stamp ## the inner loop: rules, umpire, protocol, statistics, the check of a bot, without the tests that search
	@$(BIN)/python -m pytest -q -n auto --maxprocesses 16 --dist worksteal -m 'not search' $(FAST)

lint: .venv/dev.stamp ## ruff: rules, then format
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

format: .venv/dev.stamp ## let ruff lay out all Python files
	@$(BIN)/ruff format

types: .venv/dev.stamp ## mypy --strict on everything shipped, pyright strict on the bot API
	@$(BIN)/python -m mypy
	@$(BIN)/basedpyright

imports: .venv/dev.stamp ## import contracts: every arrow points down
	@$(BIN)/lint-imports --no-logo

proto-lint: .venv/dev.stamp ## buf: style, comments and layout of the wire contract
	@$(BIN)/buf lint protos
	@$(BIN)/buf format --diff --exit-code protos

check-generated: .venv/dev.stamp ## is the checked-in protocol code what protos/ generates?
	@$(BIN)/python protos/generate.py --check

coverage: .venv/dev.stamp ## the tests of the rules, without those that search, must cover every branch of referee/rules
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest -q -m 'not search' tests/rules
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report --include='referee/rules/*' --fail-under=100

oracle: .venv/dev.stamp ## both rules engines in step through 100,000 positions of each game, and all of perft (an hour)
	@$(BIN)/python -m tests.rules.perft
	@$(BIN)/python -m tests.rules.lockstep --positions 100000
	@$(BIN)/python -m tests.rules.lockstep_family --positions 100000

mutants: .venv/dev.stamp ## mutation testing of the rules, taken up where it stopped (MUTANTS='--sample 300')
	@$(BIN)/python -m tests.mutants $(MUTANTS)

chaos: .venv/dev.stamp ## kill a referee a thousand times while it plays, and prove that nothing is lost
	@$(BIN)/python -m tests.chaos

host-chaos: .venv/dev.stamp ## kill the parts of a host 200 times while bots come in and rounds are played (CHAOS='--kills 40 --seed 7')
	@$(BIN)/python -m tests.host.chaos $(CHAOS)

host-soak: .venv/dev.stamp ## half an hour of a host under load: does anything leak, what does the site cost? (SOAK='--minutes 5 --bots 12')
	@$(BIN)/python benchmarks/host.py $(SOAK)

host-walk: .venv/dev.stamp ## a host in a browser, from its first link to a restored backup, with a bot in each language
	@$(BIN)/python -m tests.browser.host_walk $(WALK)

check-load: .venv/dev.stamp ## check the sample bots 300 times beside eight busy loops: no verdict may be false (an hour)
	@$(BIN)/python -m tests.check.under_load $(LOAD)

bench: .venv/dev.stamp ## run each benchmark; each prints its ratio to a yardstick of the same run
	@$(BIN)/python -c 'import pyspiel' 2>/dev/null || $(BIN)/python -m pip install -q open_spiel || echo 'bench: open_spiel is not to be had here, the kernel has no yardstick'
	@set -e; for program in kernel wire ratings languages 'league --short'; do echo "== $$program"; set -- $$program; $(BIN)/python "benchmarks/$$1.py" $${2:-}; done

scale: .venv/dev.stamp ## what a game costs the main process at 1,000 to 100,000 games, and what a class of forty takes
	@$(BIN)/python benchmarks/scale.py --play-only
	@$(BIN)/python benchmarks/league.py 40

proof: .venv/runtime.stamp ## play the leagues that prove the sample bots, and print the proof
	@$(BIN)/python benchmarks/proof.py

error-rates: .venv/runtime.stamp ## simulate leagues: how often do intervals miss the truth, and how often is anything false ever shown? (half an hour)
	@$(BIN)/python benchmarks/error_rates.py

variance: .venv/runtime.stamp ## how many games duplicate deals, compare and house replay save, measured on the sample bots
	@$(BIN)/python benchmarks/variance.py

docs: .venv/docs.stamp ## build the documentation into docs/_build
	@$(BIN)/python -m sphinx -W -q docs docs/_build/html
	@echo "Documentation: docs/_build/html/index.html"

clean: ## remove .venv, caches and what was built (leagues stay)
	@rm -rf .venv build dist docs/_build .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	@find . -name .git -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +
