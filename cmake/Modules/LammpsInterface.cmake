# Finds the LAMMPS of LAMMPS_BUILD_DIR, which the plugin is built for, and defines the targets
#   lammps_interface  include folders, definitions and libraries for sources that use LAMMPS' headers
#   lammps_kokkos     the same for sources that use headers of the KOKKOS package.
#                     Defined if this LAMMPS has a supported one; otherwise LAMMPS_NO_KOKKOS has the
#                     reason. Also sets LAMMPS_KOKKOS_PRECISION, _LAYOUT and _APIS, in the words of
#                     lammps_config_accelerator(), LAMMPS_KOKKOS_CXX_STANDARD and, if Kokkos uses
#                     CUDA, LAMMPS_KOKKOS_CUDA_ARCHITECTURES
# and sets LAMMPS_VERSION, LAMMPS_NUMBER, LAMMPS_MPI_NAME (openmpi, mpich or nompi), LAMMPS_SIZES_NAME
# (smallbig or bigbig), LAMMPS_CXX_STANDARD and LAMMPS_C_INCLUDE_DIR, the folder of library.h
set(LAMMPS_SOURCE_DIR "$ENV{LAMMPS_SOURCE_DIR}" CACHE PATH "top folder of the LAMMPS source tree")

if(NOT EXISTS "${LAMMPS_SOURCE_DIR}/src/version.h")
  message(FATAL_ERROR "LAMMPS_SOURCE_DIR is '${LAMMPS_SOURCE_DIR}', which has no src/version.h. "
    "Give the top folder of a LAMMPS source tree with -D LAMMPS_SOURCE_DIR=..., "
    "or run make, which fetches and builds LAMMPS.")
endif()
include(LammpsVersion)
lammps_check_version("${LAMMPS_SOURCE_DIR}"
  "Give such a tree with -D LAMMPS_SOURCE_DIR=..., or run make, which fetches and builds LAMMPS.")
if(NOT EXISTS "${LAMMPS_BUILD_DIR}/CMakeCache.txt")
  message(FATAL_ERROR "LAMMPS_BUILD_DIR is '${LAMMPS_BUILD_DIR}', which has no CMakeCache.txt. "
    "Give the folder in which CMake built LAMMPS with -D LAMMPS_BUILD_DIR=..., "
    "or run make, which fetches and builds LAMMPS.")
endif()

# Settings of LAMMPS' build that change declarations in its headers.
load_cache("${LAMMPS_BUILD_DIR}" READ_WITH_PREFIX LAMMPS_HAS_
  CMAKE_HOME_DIRECTORY CMAKE_CXX_STANDARD LAMMPS_SIZES LAMMPS_LONGLONG_TO_LONG BUILD_MPI BUILD_OMP PKG_OPENMP PKG_PLUGIN
  PKG_KSPACE FFT_SINGLE FFT_USE_HEFFTE SYSTEM_LIBRARY LAMMPS_SOURCE_DIR
  PKG_KOKKOS KOKKOS_PREC KOKKOS_LAYOUT EXTERNAL_KOKKOS DOWNLOAD_KOKKOS Kokkos_DIR)
file(REAL_PATH "${LAMMPS_SOURCE_DIR}/cmake" lammps_cmake_dir)
if(LAMMPS_HAS_SYSTEM_LIBRARY)  # cmake/system-lammps, which uses the headers of this tree
  set(LAMMPS_HAS_CMAKE_HOME_DIRECTORY "${LAMMPS_HAS_LAMMPS_SOURCE_DIR}/cmake")
endif()
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
set(LAMMPS_C_INCLUDE_DIR ${LAMMPS_SOURCE_DIR}/src)
# The C++ standard of LAMMPS. From C++20 on, LAMMPS formats its messages with the standard library
# if that supports it.
set(LAMMPS_CXX_STANDARD 17)
if(LAMMPS_HAS_PKG_KOKKOS)
  set(LAMMPS_CXX_STANDARD 20)
endif()
if(LAMMPS_HAS_CMAKE_CXX_STANDARD GREATER LAMMPS_CXX_STANDARD)
  set(LAMMPS_CXX_STANDARD ${LAMMPS_HAS_CMAKE_CXX_STANDARD})
endif()
target_compile_features(lammps_interface INTERFACE cxx_std_${LAMMPS_CXX_STANDARD})
string(TOLOWER "${LAMMPS_HAS_LAMMPS_SIZES}" LAMMPS_SIZES_NAME)
string(TOUPPER "${LAMMPS_HAS_LAMMPS_SIZES}" sizes)
target_compile_definitions(lammps_interface INTERFACE LAMMPS_${sizes})
if(LAMMPS_HAS_LAMMPS_LONGLONG_TO_LONG)
  target_compile_definitions(lammps_interface INTERFACE LAMMPS_LONGLONG_TO_LONG)
endif()
if(LAMMPS_HAS_BUILD_MPI)
  set(MPI_CXX_SKIP_MPICXX TRUE CACHE BOOL "Leave out the obsolete C++ bindings" FORCE)
  find_package(MPI REQUIRED COMPONENTS CXX)
  target_link_libraries(lammps_interface INTERFACE MPI::MPI_CXX)
  # MPI_Comm is an int in MPICH and its derivatives, and a pointer in Open MPI.
  include(CheckTypeSize)
  set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_CXX)
  set(CMAKE_EXTRA_INCLUDE_FILES mpi.h)
  check_type_size(MPI_Comm GPUCOORD_MPI_COMM_SIZE LANGUAGE CXX)
  unset(CMAKE_REQUIRED_LIBRARIES)
  unset(CMAKE_EXTRA_INCLUDE_FILES)
  set(LAMMPS_MPI_NAME openmpi)
  if(GPUCOORD_MPI_COMM_SIZE EQUAL 4)
    set(LAMMPS_MPI_NAME mpich)
  endif()
else()
  set(LAMMPS_MPI_NAME nompi)
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
# LAMMPS' Fourier transforms. With heFFTe, their class has other members.
if(LAMMPS_HAS_PKG_KSPACE AND NOT LAMMPS_HAS_FFT_USE_HEFFTE)
  target_compile_definitions(lammps_interface INTERFACE GPUCOORD_KSPACE)
  target_include_directories(lammps_interface SYSTEM INTERFACE ${LAMMPS_SOURCE_DIR}/src/KSPACE)
  if(LAMMPS_HAS_FFT_SINGLE)
    target_compile_definitions(lammps_interface INTERFACE FFT_SINGLE)
  endif()
endif()

# The settings that LAMMPS' cmake/Modules/Packages/KOKKOS.cmake gives its own sources. Kokkos itself
# is never linked: liblammps contains it, and a second copy would not manage the memory that the
# first one allocated.
set(LAMMPS_NO_KOKKOS "")
if(NOT LAMMPS_HAS_PKG_KOKKOS)
  set(LAMMPS_NO_KOKKOS "this LAMMPS has no KOKKOS package")
elseif(NOT LAMMPS_HAS_KOKKOS_LAYOUT)    # a package without macros of its precision and layout
  set(LAMMPS_NO_KOKKOS "they need the KOKKOS package of LAMMPS 4 Jul 2026 or newer")
else()
  if(LAMMPS_HAS_EXTERNAL_KOKKOS)
    set(kokkos_config_dir ${LAMMPS_HAS_Kokkos_DIR})
  elseif(LAMMPS_HAS_DOWNLOAD_KOKKOS)
    set(kokkos_config_dir ${LAMMPS_BUILD_DIR}/kokkos_build-prefix/lib/cmake/Kokkos)
  else()
    set(kokkos_config_dir ${LAMMPS_BUILD_DIR}/lib/kokkos)
  endif()
  if(LAMMPS_HAS_EXTERNAL_KOKKOS OR LAMMPS_HAS_DOWNLOAD_KOKKOS)
    file(REAL_PATH ${kokkos_config_dir}/../../../include kokkos_headers)
    set(kokkos_core ${kokkos_headers})
  else()
    set(kokkos_source_dir ${LAMMPS_SOURCE_DIR}/lib/kokkos)
    set(kokkos_core ${kokkos_source_dir}/core/src)
    set(kokkos_headers ${kokkos_config_dir})
    foreach(part core containers algorithms)
      list(APPEND kokkos_headers ${kokkos_source_dir}/${part}/src ${kokkos_config_dir}/${part}/src)
    endforeach()
    foreach(part desul mdspan)
      list(APPEND kokkos_headers ${kokkos_source_dir}/tpls/${part}/include)
    endforeach()
  endif()
  foreach(file ${kokkos_config_dir}/KokkosConfigCommon.cmake ${kokkos_core}/Kokkos_Core.hpp)
    if(NOT EXISTS "${file}")
      message(FATAL_ERROR "The LAMMPS in ${LAMMPS_BUILD_DIR} has the KOKKOS package, but ${file}, a part of its "
        "Kokkos, is not there. Put that Kokkos back, or give the build folder of another LAMMPS.")
    endif()
  endforeach()
  file(READ ${kokkos_config_dir}/KokkosConfigCommon.cmake kokkos_config)
  foreach(name DEVICES OPTIONS CUDA_ARCHITECTURES CXX_STANDARD)
    string(REGEX MATCH "set\\(Kokkos_${name} ([^)]*)\\)" found "${kokkos_config}")
    set(kokkos_${name} ${CMAKE_MATCH_1})
  endforeach()

  # The names of Info::has_accelerator_feature() in LAMMPS, which calls Threads pthreads.
  string(TOLOWER "${kokkos_DEVICES}" LAMMPS_KOKKOS_APIS)
  list(TRANSFORM LAMMPS_KOKKOS_APIS REPLACE "^threads$" "pthreads")
  list(SORT LAMMPS_KOKKOS_APIS)
  string(TOLOWER "${LAMMPS_HAS_KOKKOS_PREC}" LAMMPS_KOKKOS_PRECISION)
  string(TOLOWER "${LAMMPS_HAS_KOKKOS_LAYOUT}" LAMMPS_KOKKOS_LAYOUT)
  set(macro_double DOUBLE_DOUBLE)
  set(macro_mixed SINGLE_DOUBLE)
  set(macro_single SINGLE_SINGLE)
  string(TOUPPER "${LAMMPS_KOKKOS_LAYOUT}" layout)

  list(FILTER kokkos_DEVICES EXCLUDE REGEX "^(CUDA|OPENMP|SERIAL|THREADS)$")
  if(kokkos_DEVICES)
    set(LAMMPS_NO_KOKKOS "its Kokkos is for ${kokkos_DEVICES}, and GPUCOORD has none but CUDA and the host")
  elseif("cuda" IN_LIST LAMMPS_KOKKOS_APIS AND NOT GPUCOORD_USE_CUDA)
    set(LAMMPS_NO_KOKKOS "its Kokkos is for CUDA, and GPUCOORD is built without")
  elseif("CUDA_RELOCATABLE_DEVICE_CODE" IN_LIST kokkos_OPTIONS)
    set(LAMMPS_NO_KOKKOS "its Kokkos has relocatable device code, which a plugin cannot be linked to")
  else()
    add_library(lammps_kokkos INTERFACE)
    target_compile_definitions(lammps_kokkos INTERFACE LMP_KOKKOS KOKKOS_DEPENDENCE
      LMP_KOKKOS_${macro_${LAMMPS_KOKKOS_PRECISION}} LMP_KOKKOS_LAYOUT_${layout})
    target_include_directories(lammps_kokkos SYSTEM INTERFACE ${LAMMPS_SOURCE_DIR}/src/KOKKOS ${kokkos_headers})
    target_link_libraries(lammps_kokkos INTERFACE lammps_interface)
    set(LAMMPS_KOKKOS_CXX_STANDARD ${kokkos_CXX_STANDARD})
    if("cuda" IN_LIST LAMMPS_KOKKOS_APIS)
      set(LAMMPS_KOKKOS_CUDA_ARCHITECTURES ${kokkos_CUDA_ARCHITECTURES})
      # The options of nvcc_wrapper and LAMMPS.
      foreach(option -extended-lambda -Wext-lambda-captures-this
          "SHELL:-Xcudafe --diag_suppress=unrecognized_pragma,--diag_suppress=128,--diag_suppress=186")
        target_compile_options(lammps_kokkos INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:${option}>")
      endforeach()
      if(LAMMPS_HAS_BUILD_OMP)
        target_compile_options(lammps_kokkos INTERFACE
          $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${OpenMP_CXX_FLAGS}>)
      endif()
    endif()
  endif()
endif()
