# Configures, builds and runs the project in the folder PROJECT against the installation PREFIX, or
# against the sources HEDDLE_SOURCE.

function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE outcome OUTPUT_VARIABLE output
        ERROR_VARIABLE output)
    if(NOT outcome EQUAL 0)
        list(JOIN ARGN " " command)
        message(FATAL_ERROR "${command}\nended with ${outcome}\n${output}")
    endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/${PROJECT}" -B "${WORK}" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_BUILD_TYPE=Debug"
    "-DCMAKE_PREFIX_PATH=${PREFIX}" "-DLINKAGE=${LINKAGE}" "-DHEDDLE_SOURCE=${HEDDLE_SOURCE}")
run("${CMAKE_COMMAND}" --build "${WORK}" -j 2)
run("${WORK}/consumer")
