# The commands of the house. Each does its own set-up; CMake does the work (CMakePresets.json).
.PHONY: run test test-nix test-clients cross soak build packages bench bench-peers bench-chart fuzz lint format install clean gcc nix-build nix-expressions deps

run: build
	@tests/demo build/release/bin/igloo

test:
	@tools/install-packages test
	@tools/install-npm mcp
	@tests/all

# flake.nix over a stand-in for nixpkgs: a large download and minutes of building at the first time.
test-nix:
	@tools/install-packages test
	@tools/build dev
	@tests/nix/run build/dev/bin

# Every program for aarch64, and what of it can be tried here: a download of libraries at the first time.
cross: packages
	@tools/install-packages cross
	@tests/cross/run

# The programs that people use, each with igloo as its server: large downloads at the first time.
test-clients:
	@tools/install-packages test
	@tools/install-npm clients
	@tools/build dev
	@tests/clients/run

# Ten thousand runs of every kind, and as many sessions; 'make test' makes a few hundred of them.
soak: packages
	@tools/build dev
	@IGLOO_SOAK_RUNS=10000 build/dev/bin/igloo-integration-tests --gtest_filter='Soak.*'

build: packages
	@tools/build release

bench: build
	@tools/build release igloo-bench
	@bench/run build/release/bin

# The same beside everything it can be compared with: installs those that are missing.
bench-peers: build
	@tools/install-packages bench-peers
	@bench/install-peers
	@tools/build release igloo-bench
	@bench/run build/release/bin

# The picture in the README, of the last run.
bench-chart:
	@bench/chart build/bench.json docs/bench.svg

fuzz: packages
	@tests/fuzz/run

lint: packages
	@tools/lint

format: packages
	@git ls-files '*.cc' '*.h' | xargs clang-format-19 -i

gcc: packages
	@tools/build gcc

# With Nix instead of the compilers of this machine: igloo with its usual environments, or all environments.
NIX = nix --extra-experimental-features 'nix-command flakes'
NIX_FLAGS =
nix-build:
	@mkdir -p build
	@$(NIX) build .#default --out-link build/nix $(NIX_FLAGS)

nix-expressions:
	@mkdir -p build
	@$(NIX) build .#sandboxes --out-link build/sandboxes $(NIX_FLAGS)

deps: packages

PREFIX ?= /usr/local
install: build
	@cmake --install build/release --prefix "$(PREFIX)"

packages:
	@tools/install-packages

clean:
	rm -rf build
