# Builds GPUCOORD as a package of LAMMPS, from an unmodified LAMMPS tree:
#   cmake -S lammps/cmake -B build -D CMAKE_PROJECT_lammps_INCLUDE=<gpucoord>/cmake/inject.cmake \
#         -D PKG_GPUCOORD=on ...
# With -D PKG_KOKKOS=on, the build includes the KOKKOS styles.
# CMake includes this file at LAMMPS' project() command, before LAMMPS handles packages. Later steps
# run when LAMMPS sets a variable: sources cannot be added before LAMMPS' target exists, and a
# deferred call at the end of its CMakeLists.txt may not add a subdirectory.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH GPUCOORD_TOP_DIR)
option(PKG_GPUCOORD "Build GPUCOORD Package" OFF)
if(PKG_GPUCOORD)
  include(${GPUCOORD_TOP_DIR}/cmake/Modules/LammpsVersion.cmake)
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR PARENT_PATH lammps_tree)
  lammps_check_version("${lammps_tree}" "Give the folder cmake of such a tree with cmake -S.")
  include(${GPUCOORD_TOP_DIR}/lib/gpucoord/cmake/GpucoordCuda.cmake)
endif()

# Adds GPUCOORD to LAMMPS' list of packages, so that PKG_GPUCOORD counts as a package of LAMMPS (lmp
# -h, lammps_has_package, ...).
macro(gpucoord_is_a_package)
  if(NOT "GPUCOORD" IN_LIST STANDARD_PACKAGES)
    list(APPEND STANDARD_PACKAGES GPUCOORD)
  endif()
endmacro()
variable_watch(STANDARD_PACKAGES gpucoord_is_a_package)

# LAMMPS writes lists of style headers from these properties: one for the built-in styles, and one
# (PKG...) to report the package of a missing style.
foreach(style COMMAND COMPUTE FIX PAIR)
  string(TOLOWER ${style} prefix)
  if(style STREQUAL "COMMAND")  # command headers have no prefix
    set(prefix *)
  endif()
  file(GLOB headers CONFIGURE_DEPENDS ${GPUCOORD_TOP_DIR}/src/GPUCOORD/${prefix}_*.h)
  foreach(header ${headers})
    file(STRINGS ${header} is_style LIMIT_COUNT 1 REGEX ${style}_CLASS)
    if(is_style)
      set_property(GLOBAL APPEND PROPERTY PKG${style} ${header})
      if(PKG_GPUCOORD)
        set_property(GLOBAL APPEND PROPERTY ${style} ${header})
      endif()
    endif()
  endforeach()
endforeach()

# LAMMPS sets the folder of these lists once, after all packages and before it writes the lists.
function(gpucoord_add_to_lammps variable access)
  if(NOT access STREQUAL "MODIFIED_ACCESS")
    return()
  endif()
  # The lists name GPUCOORD/<header> and, for built-in styles, <header>.
  target_include_directories(lammps PRIVATE ${GPUCOORD_TOP_DIR}/src)
  if(PKG_GPUCOORD)
    file(GLOB sources CONFIGURE_DEPENDS ${GPUCOORD_TOP_DIR}/src/GPUCOORD/[^.]*.cpp)
    list(FILTER sources EXCLUDE REGEX "plugin\\.cpp$")
    target_sources(lammps PRIVATE ${sources})
    target_include_directories(lammps PRIVATE ${GPUCOORD_TOP_DIR}/src/GPUCOORD)
    set(GPUCOORD_LIB_SOURCE_DIR ${GPUCOORD_TOP_DIR}/lib/gpucoord)
    include(${GPUCOORD_TOP_DIR}/cmake/Modules/Packages/GPUCOORD.cmake)
    if(PKG_KOKKOS AND GPUCOORD_NO_KOKKOS)
      message(STATUS "GPUCOORD: no KOKKOS styles, ${GPUCOORD_NO_KOKKOS}")
    elseif(PKG_KOKKOS)
      file(GLOB sources CONFIGURE_DEPENDS ${GPUCOORD_TOP_DIR}/src/KOKKOS/[^.]*.cpp)
      list(FILTER sources EXCLUDE REGEX "plugin\\.cpp$")
      target_sources(lammps PRIVATE ${sources})
      target_include_directories(lammps PRIVATE ${GPUCOORD_TOP_DIR}/src/KOKKOS)
      foreach(style COMPUTE FIX PAIR)
        string(TOLOWER ${style} prefix)
        file(GLOB headers CONFIGURE_DEPENDS ${GPUCOORD_TOP_DIR}/src/KOKKOS/${prefix}_*.h)
        set_property(GLOBAL APPEND PROPERTY ${style} ${headers})
      endforeach()
    endif()
  endif()
endfunction()
variable_watch(LAMMPS_STYLE_HEADERS_DIR gpucoord_add_to_lammps)
