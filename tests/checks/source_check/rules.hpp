// The rules. Each looks at the whole tree or at one file and adds what it finds.
#pragma once

#include "source_file.hpp"

namespace heddle::checks {

/// Which layer may include what.
void check_includes(const std::vector<source_file>& files, std::vector<finding>& findings);

/// Where a co_await may stand, and where coroutines may be started.
void check_coroutines(const source_file& file, std::vector<finding>& findings);

/// Work left for later, paths of somebody's machine, files that have grown too long.
void check_text(const source_file& file, const std::filesystem::path& root,
                std::vector<finding>& findings);

/// The words of names and prose (docs/contributing/words.md), and the columns of a line.
void check_words(const source_file& file, std::vector<finding>& findings);

/// The paths, links and sections that comments and pages name exist; READMEs list their folders.
void check_references(const std::vector<source_file>& files, const std::filesystem::path& root,
                      std::vector<finding>& findings);

/// The drawings of ARCHITECTURE.md are what the includes are, without circles.
void check_drawings(const std::vector<source_file>& files, std::vector<finding>& findings);

/// The installed headers (embed/public_headers.txt) include each other only and show nothing
/// internal.
void check_public_api(const std::vector<source_file>& files, std::vector<finding>& findings);

} // namespace heddle::checks
