# cmake -DPROGRAM=<compiler_canary> -DCOMPILER=<name> -P run.cmake

execute_process(COMMAND "${PROGRAM}" in_condition TIMEOUT 5
    RESULT_VARIABLE outcome OUTPUT_VARIABLE output ERROR_VARIABLE errors)
string(STRIP "${output}" output)
if(outcome EQUAL 0)
    message(STATUS "${COMPILER}: co_await in a condition works here")
else()
    message(STATUS "${COMPILER}: co_await in a condition is miscompiled (${outcome}; '${output}')")
endif()

execute_process(COMMAND "${PROGRAM}" bound_to_local TIMEOUT 5
    RESULT_VARIABLE outcome OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT outcome EQUAL 0)
    message(FATAL_ERROR "${COMPILER}: bound to a local it fails too: ${outcome} ${output}${errors}")
endif()
message(STATUS "${COMPILER}: bound to a named local first it works")
