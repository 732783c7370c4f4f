# Compiles several sources of a target as one (HEDDLE_UNITY). Most sources are short compared with
# the headers they include, so a complete build is faster; an edit recompiles the group of the file.
# unity_groups.py determines which files can be compiled together.

find_package(Python3 COMPONENTS Interpreter QUIET)
if(NOT Python3_FOUND)
    message(STATUS "HEDDLE_UNITY: off, Python 3 is not there")
    return()
endif()

function(heddle_list_targets folder result)
    get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
    set(lines "")
    foreach(target IN LISTS targets)
        get_target_property(type ${target} TYPE)
        if(type MATCHES "^(STATIC_LIBRARY|OBJECT_LIBRARY|EXECUTABLE)$")
            get_target_property(sources ${target} SOURCES)
            get_target_property(source_dir ${target} SOURCE_DIR)
            list(FILTER sources INCLUDE REGEX "\\.cpp$")
            list(FILTER sources EXCLUDE REGEX "\\$<")
            list(LENGTH sources count)
            if(count GREATER 1 AND NOT target MATCHES "_headers_alone$")
                string(APPEND lines "${target}|${source_dir}|${sources}\n")
            endif()
        endif()
    endforeach()
    get_property(folders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
    foreach(below IN LISTS folders)
        heddle_list_targets("${below}" of_below)
        string(APPEND lines "${of_below}")
    endforeach()
    set(${result} "${lines}" PARENT_SCOPE)
endfunction()

heddle_list_targets("${PROJECT_SOURCE_DIR}" heddle_targets)
file(WRITE "${PROJECT_BINARY_DIR}/unity_targets.txt" "${heddle_targets}")
execute_process(
    COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/cmake/unity_groups.py"
        "${PROJECT_BINARY_DIR}/unity_targets.txt" "${PROJECT_BINARY_DIR}/unity_groups.cmake"
    OUTPUT_VARIABLE heddle_unity_result
    COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "HEDDLE_UNITY: ${heddle_unity_result}")
include("${PROJECT_BINARY_DIR}/unity_groups.cmake")
