// Results that take the place of earlier ones.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/rows/result_writer.hpp>

#include <cstdint>
#include <string>

namespace heddle::rows {

/// The file that a name leads to through symbolic links; the name itself where it is not a link.
[[nodiscard]] std::string file_behind_links(const std::string& file);

/// Whether the file of `output` is there and has results up to `size`, as result_writer::size()
/// was last. Blocks.
[[nodiscard]] bool has_results(const result_output& output, std::uint64_t size);

/// Puts the results of the file `fresh`, which nobody writes any more, in the place of those of
/// `output`, of the same format; `fresh` is gone then. A text file is replaced in one step, behind
/// links, and keeps its permissions. In a database the rows of the table of results are replaced in
/// one transaction: its other tables, views and indexes stay, and what a crash has left of the
/// earlier results is put right first. After a crash it is to be called again while `fresh` is
/// there. Blocks. Errors: as result_writer.
[[nodiscard]] result<void> replace_results(const result_output& output, const std::string& fresh);

} // namespace heddle::rows
