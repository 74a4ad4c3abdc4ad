# Finds the LAMMPS that the plugin is for and defines
#   lammps_interface  include folders, definitions and libraries for sources that use LAMMPS' headers
#   gpucoord_lepton   the expression library in LAMMPS' tree, for lib/gpucoord
set(LAMMPS_SOURCE_DIR "$ENV{LAMMPS_SOURCE_DIR}" CACHE PATH "top folder of the LAMMPS source tree")
set(LAMMPS_BUILD_DIR "$ENV{LAMMPS_BUILD_DIR}" CACHE PATH "LAMMPS' build folder")

file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../lammps-release.sh GPUCOORD_LAMMPS_VERSION REGEX "^LAMMPS_VERSION=")
string(REGEX REPLACE ".*\"(.*)\".*" "\\1" GPUCOORD_LAMMPS_VERSION "${GPUCOORD_LAMMPS_VERSION}")

if(NOT EXISTS "${LAMMPS_SOURCE_DIR}/src/version.h")
  message(FATAL_ERROR "LAMMPS_SOURCE_DIR is '${LAMMPS_SOURCE_DIR}', which has no src/version.h. "
    "Give the top folder of a LAMMPS ${GPUCOORD_LAMMPS_VERSION} tree with -D LAMMPS_SOURCE_DIR=..., "
    "or run make, which fetches and builds LAMMPS.")
endif()
file(STRINGS "${LAMMPS_SOURCE_DIR}/src/version.h" found REGEX "LAMMPS_VERSION")
string(REGEX REPLACE ".*\"(.*)\".*" "\\1" found "${found}")
if(NOT found STREQUAL GPUCOORD_LAMMPS_VERSION)
  message(FATAL_ERROR "${LAMMPS_SOURCE_DIR} is LAMMPS '${found}', and GPUCOORD needs "
    "'${GPUCOORD_LAMMPS_VERSION}' exactly: a plugin uses LAMMPS' classes, which change between releases.")
endif()
if(NOT EXISTS "${LAMMPS_BUILD_DIR}/CMakeCache.txt")
  message(FATAL_ERROR "LAMMPS_BUILD_DIR is '${LAMMPS_BUILD_DIR}', which has no CMakeCache.txt. "
    "Give the folder in which CMake built LAMMPS with -D LAMMPS_BUILD_DIR=..., "
    "or run make, which fetches and builds LAMMPS.")
endif()

# Settings of that build which change what its headers declare
load_cache("${LAMMPS_BUILD_DIR}" READ_WITH_PREFIX LAMMPS_HAS_
  CMAKE_HOME_DIRECTORY LAMMPS_SIZES LAMMPS_LONGLONG_TO_LONG BUILD_MPI BUILD_OMP PKG_OPENMP PKG_PLUGIN)
file(REAL_PATH "${LAMMPS_SOURCE_DIR}/cmake" lammps_cmake_dir)
file(REAL_PATH "${LAMMPS_HAS_CMAKE_HOME_DIRECTORY}" built_cmake_dir)
if(NOT lammps_cmake_dir STREQUAL built_cmake_dir)
  message(FATAL_ERROR "LAMMPS_BUILD_DIR was built from ${built_cmake_dir}, and LAMMPS_SOURCE_DIR has "
    "${lammps_cmake_dir}. Give a source and a build folder that belong together.")
endif()
if(NOT LAMMPS_HAS_PKG_PLUGIN)
  message(FATAL_ERROR "The LAMMPS in ${LAMMPS_BUILD_DIR} has no PLUGIN package and cannot load plugins. "
    "Build it again with -D PKG_PLUGIN=on.")
endif()

add_library(lammps_interface INTERFACE)
target_include_directories(lammps_interface SYSTEM INTERFACE
  ${LAMMPS_SOURCE_DIR}/src ${LAMMPS_SOURCE_DIR}/third_party)
string(TOUPPER "${LAMMPS_HAS_LAMMPS_SIZES}" sizes)
target_compile_definitions(lammps_interface INTERFACE LAMMPS_${sizes})
if(LAMMPS_HAS_LAMMPS_LONGLONG_TO_LONG)
  target_compile_definitions(lammps_interface INTERFACE LAMMPS_LONGLONG_TO_LONG)
endif()
if(LAMMPS_HAS_BUILD_MPI)
  set(MPI_CXX_SKIP_MPICXX TRUE CACHE BOOL "Leave out the obsolete C++ bindings" FORCE)
  find_package(MPI REQUIRED COMPONENTS CXX)
  target_link_libraries(lammps_interface INTERFACE MPI::MPI_CXX)
else()
  target_include_directories(lammps_interface SYSTEM INTERFACE ${LAMMPS_SOURCE_DIR}/src/STUBS)
endif()
if(LAMMPS_HAS_BUILD_OMP)
  find_package(OpenMP REQUIRED COMPONENTS CXX)
  target_compile_definitions(lammps_interface INTERFACE LAMMPS_OMP_COMPAT=4)
  target_link_libraries(lammps_interface INTERFACE OpenMP::OpenMP_CXX)
endif()
if(LAMMPS_HAS_PKG_OPENMP)
  target_compile_definitions(lammps_interface INTERFACE LMP_OPENMP)
endif()

# Without its just-in-time compiler, which would bring a second copy of asmjit into the process.
file(GLOB lepton_sources CONFIGURE_DEPENDS ${LAMMPS_SOURCE_DIR}/lib/lepton/src/*.cpp)
add_library(gpucoord_lepton STATIC ${lepton_sources})
set_target_properties(gpucoord_lepton PROPERTIES
  POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
target_compile_definitions(gpucoord_lepton PUBLIC LEPTON_BUILDING_STATIC_LIBRARY=1)
target_include_directories(gpucoord_lepton SYSTEM PUBLIC ${LAMMPS_SOURCE_DIR}/lib/lepton/include)
