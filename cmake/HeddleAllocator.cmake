# The allocator of the programs. A request of a server makes about a hundred small blocks, and many
# thousands live at a time: more than the caches of glibc's malloc hold (docs/adr/0026). Libraries
# leave the choice to the program that links them.

set(heddle_allocator "")
if(HEDDLE_SANITIZE OR HEDDLE_FUZZ OR HEDDLE_ALLOCATOR STREQUAL "system")
    # Sanitizers have their own.
elseif(HEDDLE_ALLOCATOR STREQUAL "mimalloc")
    find_package(mimalloc CONFIG REQUIRED)
elseif(HEDDLE_ALLOCATOR STREQUAL "auto")
    find_package(mimalloc CONFIG QUIET)
else()
    message(FATAL_ERROR
        "HEDDLE_ALLOCATOR is '${HEDDLE_ALLOCATOR}': it must be auto, mimalloc or system")
endif()
if(TARGET mimalloc)
    set(heddle_allocator mimalloc)
elseif(TARGET mimalloc-static)
    set(heddle_allocator mimalloc-static)
endif()
message(STATUS "Allocator of the programs: ${heddle_allocator}")

# Links the allocator into an executable, if there is one other than the system's.
function(heddle_use_allocator target)
    if(heddle_allocator)
        # For its malloc, which no object asks for by another name.
        target_link_options(${target} PRIVATE LINKER:--no-as-needed)
        target_link_libraries(${target} PRIVATE ${heddle_allocator})
    endif()
endfunction()
