# The functions of a per-atom value, from atom_functions.def. Makes, in GPUCOORD_GENERATED_DIR,
#   all_formulas/gpucoord_atom_functions.h  the headers of all functions
set(list ${CMAKE_CURRENT_SOURCE_DIR}/include/gpucoord/atom_functions.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
file(STRINGS ${list} lines REGEX "^GPUCOORD_ATOM_FUNCTION\\(")
set(headers "")
foreach(line ${lines})
  string(REGEX MATCH "\\(([A-Z0-9_]+)\\)" found "${line}")
  string(TOLOWER "${CMAKE_MATCH_1}" function)
  if(NOT found OR NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/src/atom_functions/kinds/${function}.h)
    message(FATAL_ERROR "${list} has the line ${line}, which needs a name in capitals, and that name in lower case as a header "
      "in src/atom_functions/kinds")
  endif()
  string(APPEND headers "#include \"${CMAKE_CURRENT_SOURCE_DIR}/src/atom_functions/kinds/${function}.h\"\n")
endforeach()
file(CONFIGURE OUTPUT ${GPUCOORD_GENERATED_DIR}/all_formulas/gpucoord_atom_functions.h CONTENT "${headers}" @ONLY)
