# GPUCOORD: make demo | test | quick | hooks | check-... | wheel | bench | bench-pages | doc | clean | help, or make
# alone to build.
# Variables, given as `make NAME=value` or in the environment:
#   LAMMPS             system: Debian's packages lammps and liblammps-dev, of Debian 13 or newer   [built]
#   LAMMPS_RELEASE     20260704 or 20250204: the LAMMPS to use  [20260704]
#   LAMMPS_SOURCE_DIR  a LAMMPS source tree to use instead      [fetched]
#   LAMMPS_TARBALL     a local file of that release's tarball   [downloaded]
#   LAMMPS_PACKAGES    additional LAMMPS packages, 'MANYBODY MC'   [none]
#   KOKKOS_SOURCE_DIR  a Kokkos 5 source tree: LAMMPS gets its KOKKOS package, and the tests use it, too
#   KOKKOS_PREC        its precision: double, mixed or single   [double]
#   GPUCOORD_CACHE     folder for LAMMPS and its build          [~/.cache/gpucoord]
#   PYTHON             a Python 3 with numpy and matplotlib     [/usr/bin/python3]
#   JOBS               parallel compiler processes              [number of cores]
#   GPUCOORD_CUDA      ON, OFF, or AUTO: for a GPU here or given architectures   [AUTO; release-check: ON]
#   GPUCOORD_CUDA_ARCHITECTURES  GPU architectures to build for, '80;90'  [the GPU here; ON without one: common ones]
#   GPUCOORD_FORMS     for developers: the only switching functions to build, 'cubic rational'   [all]
#   PARTS              parts of the benchmarks, 'coordination-gpu kokkos' (bench/README.md)   [all that can run]
#   DOC_SOURCE_URL     prefix of links to source files in the pages of `make doc`   [none: paths without links]
#   GPUCOORD_WERROR    for developers: 1: warnings of compilers are errors   [0]
#   GPUCOORD_REQUIRE_WHEELS      1: failed downloads from PyPI are errors instead of skipped tests and checks  [0]
PYTHON ?= /usr/bin/python3
JOBS   ?= $(shell env -u OMP_NUM_THREADS nproc)
# CMake caches these options and BUILD_TESTING. A new build/ has no tests.
# `make GPUCOORD_CUDA_ARCHITECTURES=` clears the cached ones.
CUDA_OPTIONS = $(addprefix -D GPUCOORD_CUDA=,$(or $(GPUCOORD_CUDA),$(DEFAULT_CUDA))) \
  $(if $(GPUCOORD_CUDA_ARCHITECTURES)$(filter command,$(origin GPUCOORD_CUDA_ARCHITECTURES)),\
    -D "GPUCOORD_CUDA_ARCHITECTURES=$(GPUCOORD_CUDA_ARCHITECTURES)")
FORMS = -D "GPUCOORD_FORMS=$(GPUCOORD_FORMS)"
WERROR = -D CMAKE_COMPILE_WARNING_AS_ERROR=$(if $(filter-out 0,$(GPUCOORD_WERROR)),on,off)    # since CMake 3.24
export LAMMPS LAMMPS_RELEASE LAMMPS_SOURCE_DIR LAMMPS_TARBALL LAMMPS_PACKAGES KOKKOS_SOURCE_DIR KOKKOS_PREC
export GPUCOORD_CACHE GPUCOORD_FORMS GPUCOORD_CUDA GPUCOORD_CUDA_ARCHITECTURES PYTHON JOBS GPUCOORD_REQUIRE_WHEELS DOC_SOURCE_URL

# Open MPI 4 and 5: allow runs as root in containers, and more ranks than cores.
export OMPI_ALLOW_RUN_AS_ROOT = 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = 1
export OMPI_MCA_rmaps_base_oversubscribe = 1
export PRTE_MCA_rmaps_default_mapping_policy = :oversubscribe

.PHONY: all setup demo-packages test-packages configure build-tests demo test quick hooks check-format check-structure check-clang check-bigbig check-serial check-sanitizers check-releases check-upstream check-pages wheel check-wheel release-check bench bench-pages doc clean help
.NOTPARALLEL:
.DEFAULT_GOAL := all

# configure_with OPTION...
define configure_with
@cmake -S . -B build -G Ninja -C build/lammps.cmake -D PYTHON=$(PYTHON) $(CUDA_OPTIONS) $(FORMS) $(WERROR) $(1) \
  >build/configure.log
@sed -n 's/^-- GPUCOORD: /GPUCOORD: /p' build/configure.log
endef

# run_tests OPTION...: next to the programs from PyPI that some tests compare with
define run_tests
@cmake/test-wheels.sh >build/test-wheels
@set -a; . build/test-wheels; set +a; cmake/run-tests.sh build $(1)
endef

configure: setup
	$(call configure_with,$(shell [ -e build/CMakeCache.txt ] || echo -D BUILD_TESTING=off))

# Builds neither tests nor benchmarks.
all: configure
	@cmake --build build -j $(JOBS) --target gpucoordplugin
	@echo "Built build/lmp: LAMMPS with GPUCOORD"

# Installs system packages, then builds LAMMPS. Both steps do nothing if their result exists.
setup:
	$(if $(filter-out system,$(LAMMPS)),$(error LAMMPS is '$(LAMMPS)': give system, or leave it empty to have LAMMPS built))
	@cmake/install-prerequisites.sh build
	@cmake/lammps-$(if $(LAMMPS),system,build).sh build/lammps.cmake

demo-packages:
	@cmake/install-prerequisites.sh build python

test-packages:
	@cmake/install-prerequisites.sh build python test

demo: demo-packages all
	@examples/coordination/run.sh build/demo 4000

build-tests: test-packages setup
	$(call configure_with,-D BUILD_TESTING=on)
	@cmake --build build -j $(JOBS)

test: build-tests
	@cmake --build build --target lammps_with_package
	$(call run_tests)

# The tests with the label quick, after the builds in about two minutes.
quick: build-tests
	$(call run_tests,-L '^quick$$')

hooks:
	@ln -sf "$(CURDIR)/cmake/pre-commit.sh" "$$(git rev-parse --git-path hooks)/pre-commit"
	@echo "git commit now checks format and structure first"

check-format:
	@clang_format=$$(cmake/clang-format.sh) && $(PYTHON) cmake/check-format.py "$$clang_format"

# The folder of LAMMPS' sources, which are fetched if need be
LAMMPS_TREE = tree=$$(cmake/lammps-tree.sh build/lammps.cmake)

check-structure: demo-packages
	@$(LAMMPS_TREE) && $(PYTHON) cmake/check-structure.py "$$tree/lib/lepton/include"

check-clang: build-tests
	@cmake/install-prerequisites.sh clang
	@$(PYTHON) cmake/check-clang.py build

check-upstream: test-packages
	@$(LAMMPS_TREE) && cmake/check-upstream.sh "$$tree" build/upstream

check-bigbig: demo-packages all
	@$(PYTHON) cmake/check_compile.py build

# Macros of LAMMPS' MPI stubs do not use their arguments. Without OpenMP, its pragmas are unknown, and their limits are not used.
check-serial: demo-packages all
	@cmake/lammps-build.sh build/serial.cmake serial
	@cmake -S . -B build/serial -G Ninja -C build/serial.cmake -D CMAKE_BUILD_TYPE=None -D BUILD_TESTING=off $(WERROR) \
	  -D CMAKE_CXX_FLAGS="-Wno-unused-parameter -Wno-unknown-pragmas -Wno-unused-variable" -D GPUCOORD_CUDA=OFF \
	  -D GPUCOORD_LIBRARY="$(CURDIR)/build/plugin/libgpucoord.so" >build/serial.log
	@cmake/ninja-progress.sh "serial GPUCOORD" build/serial gpucoordplugin
	@GPUCOORD_LMP=build/lmp GPUCOORD_SERIAL_LMP=build/serial/lmp $(PYTHON) unittest/serial/test_serial.py

check-sanitizers: build-tests
	@cmake/check-sanitizers.sh

check-releases: test-packages all
	@cmake/check-releases.sh compile

wheel: test-packages
	@cmake/make-wheel.sh $(CUDA_OPTIONS)

check-wheel: wheel
	@cmake/check-wheel.sh

# A release needs the CUDA backend, also from a machine without a GPU; GPUCOORD_CUDA=OFF leaves it out.
release-check: DEFAULT_CUDA = ON
release-check: test check-releases check-wheel
	@$(LAMMPS_TREE) && GPUCOORD_REQUIRE_WHEELS=1 cmake/check-upstream.sh "$$tree" build/upstream manual
	@cmake --build build --target lammps_with_package_and_cuda
	@[ ! -e build/package-cuda/lmp ] || GPUCOORD_PACKAGE_WITH_CUDA=$$PWD/build/package-cuda \
	  cmake/run-tests.sh build -R build/test_package_build
	@set -a; . build/test-wheels; set +a; cmake/check-releases.sh test $(CUDA_OPTIONS)

# Parts accuracy-host and accuracy-gpu, which are among all parts, run tests.
bench: $(if $(findstring accuracy,$(or $(PARTS),accuracy)),build-tests,demo-packages all)
	@cmake --build build --target benchmarks
	@$(PYTHON) bench/run.py build --parts "$(PARTS)"
	@$(PYTHON) bench/pages.py

bench-pages:
	@$(PYTHON) bench/pages.py

check-pages:
	@$(PYTHON) bench/pages.py --check

doc:
	@cmake/install-prerequisites.sh source doc
	@$(LAMMPS_TREE) && cmake/build-doc.sh "$$tree" build/doc

clean:
	rm -rf build

help:
	@echo "make        build build/lmp, LAMMPS with GPUCOORD"
	@echo "make demo   build build/lmp, and run examples/coordination; LAMMPS=system saves the build of LAMMPS"
	@echo "make test   build build/lmp and the tests, and run all tests"
	@echo "make quick  build them, and run each style once: 2 minutes after the builds"
	@echo "make build-tests       build build/lmp and the tests"
	@echo "make bench  build build/lmp, run the benchmarks, and write doc/performance.md and doc/accuracy.md"
	@echo "make bench-pages       write doc/performance.md, doc/accuracy.md and their plots from doc/results, without runs"
	@echo "make doc    build the documentation as HTML in build/doc/html"
	@echo "make hooks  let git check format and structure before each commit"
	@echo "make check-format      check C++ and CUDA files by clang-format 14.0.6, and for lines of at most 100 columns"
	@echo "make check-structure   check the layers of lib/gpucoord, and that each of its headers compiles alone"
	@echo "make check-clang       compile all host code by clang, with its warnings as errors"
	@echo "make check-bigbig      compile the styles for LAMMPS with 64-bit atom IDs and C++20"
	@echo "make check-serial      build a LAMMPS without MPI and with 64-bit atom IDs; compile and run all styles with it"
	@echo "make check-sanitizers  run the tests of the library with address and undefined-behavior sanitizers"
	@echo "make check-releases    compile the styles for all other supported LAMMPS releases, and for LAMMPS' Python wheel"
	@echo "make wheel             build the Python wheel for LAMMPS' wheel, build/wheel/gpucoord-*.whl"
	@echo "make check-wheel       build the wheel, and test it in a fresh virtual environment"
	@echo "make release-check     run all tests with each supported LAMMPS release; test the wheel; build all pages of the manual"
	@echo "make check-pages       check that the pages and plots of make bench-pages are what doc/results gives"
	@echo "make check-upstream    check style and pages of a LAMMPS tree with the package as LAMMPS does"
	@echo "make clean  remove build/; the built LAMMPS stays in the cache"
	@sed -n '/^# Variables/,/^#   GPUCOORD_REQUIRE_WHEELS/s/^# \{0,1\}//p' Makefile
