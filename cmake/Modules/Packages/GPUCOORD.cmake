# The GPUCOORD package in a build of LAMMPS, in the form of LAMMPS' own cmake/Modules/Packages.
# GPUCOORD_LIB_SOURCE_DIR is set where the library lies outside the LAMMPS tree (cmake/inject.cmake).
if(NOT GPUCOORD_LIB_SOURCE_DIR)
  set(GPUCOORD_LIB_SOURCE_DIR ${LAMMPS_LIB_SOURCE_DIR}/gpucoord)
endif()

if(NOT LEPTON_SOURCE_DIR)
  include(Packages/LEPTON)
endif()
set(GPUCOORD_LEPTON_TARGET lepton)

add_subdirectory(${GPUCOORD_LIB_SOURCE_DIR} ${CMAKE_BINARY_DIR}/gpucoord)
target_link_libraries(lammps PRIVATE gpucoord)
