// What the top level of a program got from outside, kept in the run.
#pragma once

#include "application.hpp"
#include "batch/request/batch_request.hpp"
#include "batch/request/run_manifest.hpp"
#include "batch/rows/top_level_log.hpp"
#include "batch/run_folder/program_digest.hpp"

#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/store/run_store.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// What one version of the program got.
struct kept_top_level {
    std::string base;                 ///< program_digests of that version
    std::string whole;                ///< the same
    std::vector<std::string> imports; ///< as named from the folder of the workflow
    std::vector<program_source> sources;
    std::vector<ports::step_record> records;

    [[nodiscard]] std::string to_bytes() const;
    /// Nothing: it is damaged, or of a later heddle.
    [[nodiscard]] static std::optional<kept_top_level> from_bytes(std::string_view bytes);
};

/// Of the versions that the run has: that of its results, and that of rows that were retried after
/// an edit.
class top_level_store {
public:
    top_level_store() = default;
    /// `entries`: of the journal's manifest.
    explicit top_level_store(const std::vector<store::manifest_entry>& entries);

    /// Nothing is kept: the run is new, or of a version of heddle that kept none.
    [[nodiscard]] bool is_empty() const noexcept { return all_.empty(); }

    /// The program as it is now, before it is evaluated. All of it outlives the call.
    struct asked_program {
        const batch_request& asked;
        const std::string& text; ///< of the workflow
        application& tools;
        const run_manifest& manifest;
    };
    struct found_notes {
        std::optional<top_level_notes> notes; ///< nothing: it has to be evaluated
        std::string change; ///< for people: why, if only what the top level reads is another
    };
    /// What the program as it is now got in an earlier process: its files are the same, and so is
    /// what its top level reads. Cancellation: of `context`.
    [[nodiscard]] coro::task<result<found_notes>> find(asked_program program,
                                                       coro::call_context context) const;

    /// The entries that change once rows run under the program `now`. `is_new`: find() has not
    /// found it. `run`: its manifest with the digests of the rows.
    [[nodiscard]] std::vector<store::manifest_entry> entries_with(const kept_top_level& now,
                                                                  bool is_new,
                                                                  const run_manifest& run) const;

private:
    std::vector<kept_top_level> all_;
};

/// What entries_with() takes of a program that has been evaluated.
[[nodiscard]] kept_top_level kept_of(const program_digests& digests, const imported_texts& imports,
                                     const top_level_notes& notes);

/// The rows of a run without records of the top level have the digest in its earlier form: they are
/// of the program as it is now if that agrees.
void adopt_digests(run_manifest& run, const program_digests& now);

} // namespace heddle::cli
