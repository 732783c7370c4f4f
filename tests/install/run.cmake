# Configures, builds and runs the project in the folder WAY against a fresh installation of the build
# HEDDLE_BUILD, or against the sources HEDDLE_SOURCE.

function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE outcome OUTPUT_VARIABLE output
        ERROR_VARIABLE output)
    if(NOT outcome EQUAL 0)
        list(JOIN ARGN " " command)
        message(FATAL_ERROR "${command}\nended with ${outcome}\n${output}")
    endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
set(arguments "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_BUILD_TYPE=Debug")
if(WAY STREQUAL "find_package")
    run("${CMAKE_COMMAND}" --install "${HEDDLE_BUILD}" --prefix "${WORK}/prefix")
    list(APPEND arguments "-DCMAKE_PREFIX_PATH=${WORK}/prefix")
else()
    list(APPEND arguments "-DHEDDLE_SOURCE=${HEDDLE_SOURCE}")
endif()
run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/${WAY}" -B "${WORK}/build" -G "${GENERATOR}"
    ${arguments})
run("${CMAKE_COMMAND}" --build "${WORK}/build" -j 2)
run("${WORK}/build/consumer")
