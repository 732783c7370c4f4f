#pragma once

/**
 * Where this checkout and this build are. One source knows it, so that the objects of all other
 * tests are the same in every checkout and ccache can share them.
 */

namespace heddle::test_paths {

/** The absolute path of the project's sources. */
[[nodiscard]] const char* source_folder() noexcept;

/** The absolute path of tests/data. */
[[nodiscard]] const char* data_folder() noexcept;

/** The absolute path of the program of this build; empty where it is not built. */
[[nodiscard]] const char* program_file() noexcept;

/** The absolute path of a library for LD_PRELOAD that never resolves a name; empty as above. */
[[nodiscard]] const char* slow_names_library() noexcept;

/** The same of one that kills its process at a change of a directory; empty as above. */
[[nodiscard]] const char* killed_start_library() noexcept;

} // namespace heddle::test_paths
