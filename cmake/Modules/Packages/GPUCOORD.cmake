# The GPUCOORD package in a build of LAMMPS, in the form of LAMMPS' own cmake/Modules/Packages. It
# needs only lib/gpucoord and the sources of the styles. It therefore works in a LAMMPS tree
# (cmake/upstream.sh) and, with cmake/inject.cmake, next to one. GPUCOORD_LIB_SOURCE_DIR is set if
# the library is outside the LAMMPS tree.
if(NOT GPUCOORD_LIB_SOURCE_DIR)
  set(GPUCOORD_LIB_SOURCE_DIR ${LAMMPS_LIB_SOURCE_DIR}/gpucoord)
endif()

# inject.cmake has already included it: CUDA cannot be enabled in the function from which
# inject.cmake includes this file.
if(NOT DEFINED GPUCOORD_USE_CUDA)
  include(${GPUCOORD_LIB_SOURCE_DIR}/cmake/GpucoordCuda.cmake)
endif()

if(NOT LEPTON_SOURCE_DIR)
  include(Packages/LEPTON)
endif()
set(GPUCOORD_LEPTON_TARGET lepton)

add_subdirectory(${GPUCOORD_LIB_SOURCE_DIR} ${CMAKE_BINARY_DIR}/gpucoord)
target_link_libraries(lammps PRIVATE gpucoord ${CMAKE_DL_LIBS})

# Far fields of compute potential/grid use LAMMPS' Fourier transforms. With heFFTe, their class has
# other members.
if(PKG_KSPACE AND NOT FFT_USE_HEFFTE)
  target_compile_definitions(lammps PRIVATE GPUCOORD_KSPACE)
endif()

set(GPUCOORD_NO_KOKKOS "")
if(Kokkos_ENABLE_HIP OR Kokkos_ENABLE_SYCL OR Kokkos_ENABLE_OPENMPTARGET)
  set(GPUCOORD_NO_KOKKOS "its KOKKOS styles are for CUDA and the host alone")
elseif(Kokkos_ENABLE_CUDA AND NOT GPUCOORD_USE_CUDA)
  set(GPUCOORD_NO_KOKKOS "Kokkos is for CUDA, and GPUCOORD is built without")
elseif(PKG_KOKKOS AND NOT DEFINED KOKKOS_LAYOUT)
  set(GPUCOORD_NO_KOKKOS "they need the KOKKOS package of LAMMPS 4 Jul 2026 or newer")
endif()
if(PKG_KOKKOS AND NOT GPUCOORD_TOP_DIR)
  # In the LAMMPS tree, Packages/KOKKOS.cmake builds all styles that it finds in src/KOKKOS.
  if(GPUCOORD_NO_KOKKOS)
    message(FATAL_ERROR "GPUCOORD: ${GPUCOORD_NO_KOKKOS}. Build without PKG_GPUCOORD, or change that.")
  endif()
  # These files are not styles.
  foreach(name bias_plumed_atoms coord_coordination coord_evaluator gpucoord_device order_evaluator)
    target_sources(lammps PRIVATE ${LAMMPS_SOURCE_DIR}/KOKKOS/${name}_kokkos.cpp)
  endforeach()
endif()
