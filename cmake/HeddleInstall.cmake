# cmake --install: libraries, public headers, the program, and a package for find_package(heddle).

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY HEDDLE_LIBRARIES)
get_property(header_roots GLOBAL PROPERTY HEDDLE_HEADER_ROOTS)
list(REMOVE_DUPLICATES header_roots)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/heddle")
install(TARGETS ${libraries} EXPORT heddle)
install(EXPORT heddle NAMESPACE heddle:: DESTINATION "${package_dir}" FILE heddleTargets.cmake)
foreach(root IN LISTS header_roots)
    install(DIRECTORY "${root}/heddle" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def")
endforeach()
if(TARGET heddle_cli)
    install(TARGETS heddle_cli)
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
        install(DIRECTORY "${shared}/" DESTINATION "${CMAKE_INSTALL_DATADIR}")
    endif()
endif()

configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/heddleConfig.cmake.in" "${PROJECT_BINARY_DIR}/heddleConfig.cmake"
    INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/heddleConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
# Apache-2.0 wants the licence to go with every copy; the help names pages of docs.
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/README.md"
    DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(
    FILES
        "${PROJECT_BINARY_DIR}/heddleConfig.cmake"
        "${PROJECT_BINARY_DIR}/heddleConfigVersion.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/Findre2.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/Findzstd.cmake"
    DESTINATION "${package_dir}")
