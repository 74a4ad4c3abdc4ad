# Reads the release of a LAMMPS source tree and compares it with those that GPUCOORD supports, the
# table in cmake/lammps-releases.txt.

# lammps_number(VERSION RESULT): the number that lammps_version() returns for VERSION, for example
# 20250204 for "4 Feb 2025". Empty if VERSION is not a date.
function(lammps_number version result)
  set(months Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec)
  set(number "")
  if(version MATCHES "^([0-9]+) ([A-Z][a-z][a-z]) ([0-9]+)$")
    list(FIND months ${CMAKE_MATCH_2} month)
    math(EXPR number "${CMAKE_MATCH_3} * 10000 + (${month} + 1) * 100 + ${CMAKE_MATCH_1}")
  endif()
  set(${result} "${number}" PARENT_SCOPE)
endfunction()

# lammps_check_version(TREE ADVICE): sets LAMMPS_VERSION and LAMMPS_NUMBER of the tree. Releases
# older than the supported ones cause an error, which ends with ADVICE: how to choose another tree.
# Others that are not in the table cause a warning.
function(lammps_check_version tree advice)
  set(table ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../lammps-releases.txt)
  file(STRINGS ${table} rows REGEX "^[0-9]")
  set(numbers ${rows})
  list(TRANSFORM numbers REPLACE " .*" "")
  set(versions ${rows})
  list(TRANSFORM versions REPLACE ".* ([0-9]+ [A-Z][a-z]+ [0-9]+)$" "\\1")
  list(GET numbers -1 oldest)
  list(GET versions -1 oldest_version)
  list(JOIN versions ", " versions)

  file(STRINGS "${tree}/src/version.h" version REGEX "LAMMPS_VERSION")
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" version "${version}")
  lammps_number("${version}" number)
  if(number STREQUAL "")
    message(FATAL_ERROR "${tree}/src/version.h has the version '${version}', which is not a date such as 4 Jul 2026. "
      "Give an unchanged LAMMPS tree.")
  endif()
  if(number LESS oldest)
    message(FATAL_ERROR "${tree} is LAMMPS ${version}, and GPUCOORD needs LAMMPS ${oldest_version} or newer. "
      "${advice}")
  endif()
  if(NOT number IN_LIST numbers)
    message(WARNING "${tree} is LAMMPS ${version}. GPUCOORD is tested with LAMMPS ${versions}. "
      "With other releases it may not compile, and its tests have not been run: build the plugin and run them with ctest.")
  endif()
  set(LAMMPS_VERSION "${version}" PARENT_SCOPE)
  set(LAMMPS_NUMBER ${number} PARENT_SCOPE)
endfunction()
