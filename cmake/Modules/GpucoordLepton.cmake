# The expression library in LAMMPS' source tree as the target gpucoord_lepton, for lib/gpucoord.
# Lepton without its just-in-time compiler, which would add a second copy of asmjit to the process.
file(GLOB lepton_sources CONFIGURE_DEPENDS ${LAMMPS_SOURCE_DIR}/lib/lepton/src/*.cpp)
add_library(gpucoord_lepton STATIC ${lepton_sources})
set_target_properties(gpucoord_lepton PROPERTIES
  POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
target_compile_definitions(gpucoord_lepton PUBLIC LEPTON_BUILDING_STATIC_LIBRARY=1)
target_include_directories(gpucoord_lepton SYSTEM PUBLIC ${LAMMPS_SOURCE_DIR}/lib/lepton/include)
