// Whether a run continues with the program that it has run.
#pragma once

#include "application.hpp"
#include "batch/batch_request.hpp"
#include "batch/run_manifest.hpp"

#include <string>
#include <vector>

namespace heddle::cli {

/// All that decides what a row asks for.
struct program_parts {
    const batch_request& asked;
    const std::string& text; ///< of the workflow
    application& tools;
    std::vector<std::string> templates; ///< files
    const std::string& reads;           ///< top_level_notes::digest_of_reads()
};

/// The digest of what rows ask for: sources, what the top level reads, templates, inputs, the
/// model, settings of services, routes and aliases; 32 hex digits. Directories are no part of it: a
/// project can be moved. A model that is not known now, for want of a key, is taken from the
/// manifest, which notes it.
[[nodiscard]] std::string program_digest(const program_parts& of, run_manifest& manifest);

} // namespace heddle::cli
