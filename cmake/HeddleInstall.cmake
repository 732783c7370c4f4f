# cmake --install: the program, the libraries, the public headers, and what find_package and
# pkg-config read. In components, which are the packages of cmake/HeddlePackages.cmake:
#
#   program       the program, its manual page, completions and documentation
#   library       libheddle.so
#   development   headers, libheddle.a, CMake package, heddle.pc

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/heddle")
if(TARGET heddle_static)
    install(TARGETS heddle_static EXPORT heddle_static
        ARCHIVE COMPONENT development)
    if(TARGET heddle_static_asio)
        install(TARGETS heddle_static_asio EXPORT heddle_static ARCHIVE COMPONENT development)
    endif()
    install(EXPORT heddle_static NAMESPACE heddle:: DESTINATION "${package_dir}"
        FILE heddleStaticTargets.cmake COMPONENT development)
endif()
if(TARGET heddle_shared)
    install(TARGETS heddle_shared EXPORT heddle_shared
        LIBRARY COMPONENT library NAMELINK_COMPONENT development)
    install(EXPORT heddle_shared NAMESPACE heddle:: DESTINATION "${package_dir}"
        FILE heddleSharedTargets.cmake COMPONENT development)
endif()

# Public headers: those of the list and no others.
file(STRINGS "${PROJECT_SOURCE_DIR}/embed/public_headers.txt" headers REGEX "^heddle/")
foreach(header IN LISTS headers)
    set(file "${PROJECT_SOURCE_DIR}/embed/include/${header}")
    if(NOT EXISTS "${file}")
        set(file "${PROJECT_SOURCE_DIR}/async_core/include/${header}")
    endif()
    cmake_path(GET header PARENT_PATH folder)
    install(FILES "${file}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}"
        COMPONENT development)
endforeach()

# find_package(heddle)
configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/heddleConfig.cmake.in" "${PROJECT_BINARY_DIR}/heddleConfig.cmake"
    INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/heddleConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
install(
    FILES
        "${PROJECT_BINARY_DIR}/heddleConfig.cmake"
        "${PROJECT_BINARY_DIR}/heddleConfigVersion.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/Findre2.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/Findzstd.cmake"
    DESTINATION "${package_dir}" COMPONENT development)

# pkg-config heddle is the shared library, heddle-static the archive: -lheddle alone would be the
# shared one wherever both are. Each knows its prefix from where it is.
set(pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH pc_prefix "/${pc_dir}" "/")
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
set(pc_asio "")
if(TARGET heddle_static_asio)
    set(pc_asio " \${libdir}/libheddle_asio.a")
endif()
foreach(kind IN ITEMS shared static)
    if(TARGET heddle_${kind})
        set(pc_name heddle)
        if(kind STREQUAL "static")
            set(pc_name heddle-static)
        endif()
        configure_file("${PROJECT_SOURCE_DIR}/cmake/${pc_name}.pc.in"
            "${PROJECT_BINARY_DIR}/${pc_name}.pc" @ONLY)
        install(FILES "${PROJECT_BINARY_DIR}/${pc_name}.pc" DESTINATION "${pc_dir}"
            COMPONENT development)
    endif()
endforeach()

if(TARGET heddle_cli)
    install(TARGETS heddle_cli RUNTIME COMPONENT program)
    # The program prints its own manual page and completion scripts.
    if(NOT CMAKE_CROSSCOMPILING)
        set(shared "${PROJECT_BINARY_DIR}/share")
        set(page "${shared}/man/man1/heddle.1")
        set(bash "${shared}/bash-completion/completions/heddle")
        set(zsh "${shared}/zsh/site-functions/_heddle")
        set(fish "${shared}/fish/vendor_completions.d/heddle.fish")
        foreach(file IN ITEMS "${page}" "${bash}" "${zsh}" "${fish}")
            get_filename_component(folder "${file}" DIRECTORY)
            file(MAKE_DIRECTORY "${folder}")
        endforeach()
        add_custom_command(OUTPUT "${page}" "${bash}" "${zsh}" "${fish}"
            COMMAND heddle_cli help --man > "${page}"
            COMMAND heddle_cli completion bash > "${bash}"
            COMMAND heddle_cli completion zsh > "${zsh}"
            COMMAND heddle_cli completion fish > "${fish}"
            DEPENDS heddle_cli
            COMMENT "Writing the manual page and completion scripts"
            VERBATIM)
        add_custom_target(heddle_share ALL DEPENDS "${page}" "${bash}" "${zsh}" "${fish}")
        install(DIRECTORY "${shared}/" DESTINATION "${CMAKE_INSTALL_DATADIR}" COMPONENT program)
    endif()
endif()

# Apache-2.0 wants the licence to go with every copy; the help names pages of docs.
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/README.md"
    DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT program)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
    COMPONENT program)

if(PROJECT_IS_TOP_LEVEL)
    include(HeddlePackages)
endif()
