# Precompiled headers for a build of LAMMPS: parsing these headers takes most of its time. The code
# that is generated stays the same. lammps-build.sh gives this file as CMAKE_PROJECT_lammps_INCLUDE,
# which CMake includes at LAMMPS' project() command; the target exists at the end of its
# CMakeLists.txt.
function(precompile_lammps_headers)
  target_precompile_headers(lammps PRIVATE <mpi.h> ${CMAKE_CURRENT_SOURCE_DIR}/../src/pointers.h
    <algorithm> <cmath> <cstring> <map> <set> <string> <unordered_map> <vector>)
endfunction()
cmake_language(DEFER CALL precompile_lammps_headers)
