# cmake -DCOMMAND=<program;argument;…> -DEXPECTED=<file> -P expect_output.cmake
#
# Runs the command; its standard output must be the text of the file and its exit code 0.

execute_process(COMMAND ${COMMAND} OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE code)
file(READ "${EXPECTED}" expected)
if(NOT code EQUAL 0)
    message(FATAL_ERROR "exit code ${code}\n${errors}")
endif()
if(NOT output STREQUAL expected)
    message(FATAL_ERROR "expected:\n${expected}\ngot:\n${output}\n${errors}")
endif()
