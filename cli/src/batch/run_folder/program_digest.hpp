// Whether a run continues with the program that it has run.
#pragma once

#include "application.hpp"
#include "batch/request/batch_request.hpp"
#include "batch/request/run_manifest.hpp"
#include "batch/rows/top_level_log.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::cli {

/// Imported files as they are named from the folder of the workflow, with their contents.
using imported_texts = std::vector<std::pair<std::string, std::string>>;

/// All that decides what a row asks for.
struct program_parts {
    const batch_request& asked;
    const std::string& text; ///< of the workflow
    const application& tools;
    const imported_texts& imports;
    const top_level_notes& notes;
};

/// Digests of what rows ask for, 32 hex digits each: sources, templates, inputs, the model,
/// settings of services, routes and aliases. Directories are not part of it: a project can move.
struct program_digests {
    std::string base;    ///< without what the top level reads
    std::string whole;   ///< with it
    std::string earlier; ///< the same in the form of runs that have no records of the top level
};

/// A model that is not known now, for want of a key, is taken from the manifest, which notes it.
/// Blocks for as long as templates take to read.
[[nodiscard]] program_digests digests_of(const program_parts& of, run_manifest& manifest);

/// What the program has imported so far.
[[nodiscard]] imported_texts imports_of(const std::string& workflow, const import_notes& noted);
/// The same files as they are now; nothing if one cannot be read. Blocks.
[[nodiscard]] std::optional<imported_texts> read_imports(const std::string& workflow,
                                                         const std::vector<std::string>& names);

} // namespace heddle::cli
