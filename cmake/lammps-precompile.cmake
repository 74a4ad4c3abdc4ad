# Precompiled headers for a build of LAMMPS: parsing these headers takes most of its time. The code
# that is generated stays the same. Given as CMAKE_PROJECT_lammps_INCLUDE, which CMake includes at
# LAMMPS' project() command; the target exists at the end of its CMakeLists.txt. GPUCOORD in
# LAMMPS' tree is compiled without: its files include what they need.
function(precompile_lammps_headers)
  target_precompile_headers(lammps PRIVATE <mpi.h> ${CMAKE_CURRENT_SOURCE_DIR}/../src/pointers.h
    <algorithm> <cmath> <cstring> <map> <set> <string> <unordered_map> <vector>)
  get_target_property(sources lammps SOURCES)
  list(FILTER sources INCLUDE REGEX "/GPUCOORD/")
  set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
cmake_language(DEFER CALL precompile_lammps_headers)
