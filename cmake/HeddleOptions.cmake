# Options. When heddle is a part of another project everything but the libraries is off.

option(HEDDLE_BUILD_CLI "Build the heddle program" ${PROJECT_IS_TOP_LEVEL})
option(HEDDLE_BUILD_TESTS "Build tests, fuzzers and benches" ${PROJECT_IS_TOP_LEVEL})
option(HEDDLE_INSTALL "Make install rules" ${PROJECT_IS_TOP_LEVEL})
option(HEDDLE_HOST_ASIO "The program that links heddle compiles Asio itself" OFF)
option(HEDDLE_WERROR "Treat warnings as errors" OFF)
option(HEDDLE_PCH "Use precompiled headers" ON)
option(HEDDLE_UNITY "Compile several sources as one: for builds from nothing (Python 3)" OFF)
option(HEDDLE_CHECK_HEADERS "Compile each public header alone, as a part of the tests" OFF)
option(HEDDLE_BENCH "Build the benches of tests/perf by default" OFF)
option(HEDDLE_FUZZ "Build tests/fuzz (clang only)" OFF)
option(HEDDLE_COVERAGE "Measure the coverage of the tests" OFF)
set(HEDDLE_ALLOCATOR "auto" CACHE STRING "Of the programs: mimalloc, system, or auto: mimalloc if found")
set_property(CACHE HEDDLE_ALLOCATOR PROPERTY STRINGS auto mimalloc system)
set(HEDDLE_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=: 'address,undefined' or 'thread'")

set(heddle_libraries ${PROJECT_IS_TOP_LEVEL})
if(HEDDLE_SANITIZE OR HEDDLE_FUZZ OR HEDDLE_COVERAGE)
    set(heddle_libraries OFF) # nobody installs these builds
endif()
option(HEDDLE_STATIC "Build libheddle.a" ${heddle_libraries})
option(HEDDLE_SHARED "Build libheddle.so" ${heddle_libraries})

# Who leaves Asio out links only static libraries, into a program that has it.
if(HEDDLE_HOST_ASIO AND (HEDDLE_BUILD_CLI OR HEDDLE_BUILD_TESTS OR HEDDLE_SHARED))
    message(FATAL_ERROR "HEDDLE_HOST_ASIO leaves Asio out, which the program, the tests and libheddle.so "
        "need: set HEDDLE_BUILD_CLI, HEDDLE_BUILD_TESTS and HEDDLE_SHARED to OFF")
endif()

if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
    set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

    # With precompiled headers ccache has a hit only when it may trust the macros they define.
    find_program(HEDDLE_CCACHE ccache)
    if(HEDDLE_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
        set(CMAKE_CXX_COMPILER_LAUNCHER
            "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${HEDDLE_CCACHE}")
    endif()
    find_program(HEDDLE_LLD ld.lld)
    if(HEDDLE_LLD)
        add_link_options(-fuse-ld=lld)
    endif()

    # These change every object and must be the same in all of them, so they are set for the tree.
    if(HEDDLE_SANITIZE)
        add_compile_options(-fsanitize=${HEDDLE_SANITIZE} -fno-sanitize-recover=all
                            -fno-omit-frame-pointer)
        add_link_options(-fsanitize=${HEDDLE_SANITIZE})
        if(HEDDLE_SANITIZE MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
            # clang 14 cannot compile coroutines with its check of called functions.
            add_compile_options(-fno-sanitize=function)
        endif()
        if(HEDDLE_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
            # Fences are not seen. Asio counts references without them if it may not use std::atomic;
            # what its other fences order its locks order as well.
            add_compile_options(-Wno-tsan)
            add_compile_definitions(BOOST_ASIO_DISABLE_STD_ATOMIC)
        endif()
    endif()
    if(HEDDLE_FUZZ)
        add_compile_options(-fsanitize=fuzzer-no-link -fno-omit-frame-pointer)
    endif()
    if(HEDDLE_COVERAGE)
        add_compile_options(--coverage)
        add_link_options(--coverage)
    endif()
endif()
