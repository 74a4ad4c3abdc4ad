# The forms of switching functions, from switch_functions.def. Sets
#   switch_forms    those that are compiled, for kernels on a GPU
#   compiled_forms  those of them that are not interpreted expressions, for kernels on the host
# and makes, in GPUCOORD_GENERATED_DIR,
#   gpucoord_compiled_forms.def               the names of switch_forms
#   forms/NAME/gpucoord_form.h                the formula of one form, for the objects with its kernels
#   all_formulas/gpucoord_switch_functions.h  all formulas, for sources that choose one at run time
set(GPUCOORD_GENERATED_DIR ${CMAKE_CURRENT_BINARY_DIR}/generated)
# Order parameters without a switching function take the range of a cubic one.
set(GPUCOORD_FORMS "" CACHE STRING
  "For developers: the only switching functions to compile kernels of, next to cubic, such as 'rational'; empty: all")

set(list ${CMAKE_CURRENT_SOURCE_DIR}/include/gpucoord/switch_functions.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
file(STRINGS ${list} lines REGEX "^GPUCOORD_[A-Z]+\\(")
separate_arguments(wanted UNIX_COMMAND "${GPUCOORD_FORMS}")
if(wanted)
  list(APPEND wanted cubic)
endif()
set(switch_forms "")
set(compiled_forms "")
set(functions "")
set(all_formulas "")
set(names_of_forms "")
foreach(line ${lines})
  string(REGEX MATCH "^GPUCOORD_([A-Z]+)\\(([A-Z0-9_]+), ([A-Za-z0-9]+), (.*)\\)$" found "${line}")
  set(kind ${CMAKE_MATCH_1})
  string(TOLOWER "${CMAKE_MATCH_2}" function)
  set(form ${CMAKE_MATCH_3})
  set(formula ${CMAKE_MATCH_4})
  list(APPEND functions ${function})
  if(kind STREQUAL "EXPRESSION")
    set(text "#include \"${CMAKE_CURRENT_SOURCE_DIR}/src/switching/interpreted.cuh\"\n")
    string(APPEND all_formulas "#include \"${CMAKE_CURRENT_SOURCE_DIR}/src/switching/functions/${function}.h\"\n")
  else()
    string(CONCAT text "#include \"${CMAKE_CURRENT_SOURCE_DIR}/src/switching/functions/${function}.h\"\n"
      "namespace gpucoord { namespace formula { using ${form} = ${formula}; } }\n")
    string(APPEND all_formulas "${text}")
  endif()
  if(wanted AND NOT function IN_LIST wanted)
    continue()
  endif()
  file(CONFIGURE OUTPUT ${GPUCOORD_GENERATED_DIR}/forms/${form}/gpucoord_form.h CONTENT "${text}" @ONLY)
  list(APPEND switch_forms ${form})
  if(NOT kind STREQUAL "EXPRESSION")
    list(APPEND compiled_forms ${form})
  endif()
  string(APPEND names_of_forms "GPUCOORD_COMPILED(${form})\n")
endforeach()
file(CONFIGURE OUTPUT ${GPUCOORD_GENERATED_DIR}/all_formulas/gpucoord_switch_functions.h CONTENT "${all_formulas}" @ONLY)
file(CONFIGURE OUTPUT ${GPUCOORD_GENERATED_DIR}/gpucoord_compiled_forms.def
  CONTENT "${names_of_forms}#undef GPUCOORD_COMPILED\n" @ONLY)

list(REMOVE_DUPLICATES functions)
foreach(name ${wanted})
  if(NOT name IN_LIST functions)
    list(JOIN functions ", " functions)
    message(FATAL_ERROR "GPUCOORD_FORMS has '${name}', which is not a switching function: give some of ${functions}, separated "
      "by blanks, or leave it empty for all")
  endif()
endforeach()
