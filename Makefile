# The commands of the house. Each does its own set-up; CMake does the work (CMakePresets.json).
.PHONY: run test build packages bench bench-peers bench-chart fuzz lint format install clean gcc

run: build
	@tests/demo build/release/bin/igloo

test:
	@tools/install-packages test
	@tests/all

build: packages
	@tools/build release

bench: build
	@bench/run build/release/bin

# The same beside everything it can be compared with: installs those that are missing.
bench-peers: build
	@tools/install-packages bench-peers
	@bench/install-peers
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

PREFIX ?= /usr/local
install: build
	@cmake --install build/release --prefix "$(PREFIX)"

packages:
	@tools/install-packages

clean:
	rm -rf build
