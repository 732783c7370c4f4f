# What holds wherever heddle is a part of another project.

foreach(off IN ITEMS BUILD_CLI BUILD_TESTS INSTALL STATIC SHARED)
    if(HEDDLE_${off})
        message(FATAL_ERROR "HEDDLE_${off} is on inside another project")
    endif()
endforeach()
if(NOT TARGET heddle::heddle)
    message(FATAL_ERROR "there is no heddle::heddle")
endif()
get_target_property(definitions heddle_embed INTERFACE_COMPILE_DEFINITIONS)
if(definitions)
    message(FATAL_ERROR "heddle::heddle forces macros on its users: ${definitions}")
endif()

# Only the lowest library is built: the installed ways have all of them.
add_executable(consumer "${CMAKE_CURRENT_LIST_DIR}/consumer/lowest.cpp")
target_link_libraries(consumer PRIVATE heddle::base)
