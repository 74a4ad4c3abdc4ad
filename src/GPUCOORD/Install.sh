# The traditional make build of LAMMPS cannot build the library that this package needs.
echo "GPUCOORD is built with CMake: cmake -D CMAKE_PROJECT_lammps_INCLUDE=<GPUCOORD>/cmake/inject.cmake -D PKG_GPUCOORD=on"
exit 1
