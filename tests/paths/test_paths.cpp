#include "test_paths.hpp"

#ifndef HEDDLE_PROGRAM // the program is not built
#define HEDDLE_PROGRAM ""
#define HEDDLE_SLOW_NAMES ""
#define HEDDLE_KILLED_START ""
#endif

namespace heddle::test_paths {

const char* source_folder() noexcept { return HEDDLE_SOURCE_DIR; }

const char* data_folder() noexcept { return HEDDLE_TEST_DATA_DIR; }

const char* program_file() noexcept { return HEDDLE_PROGRAM; }

const char* slow_names_library() noexcept { return HEDDLE_SLOW_NAMES; }

const char* killed_start_library() noexcept { return HEDDLE_KILLED_START; }

} // namespace heddle::test_paths
