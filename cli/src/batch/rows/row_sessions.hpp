// The sessions of a batch: one for each row.
#pragma once

#include "batch/rows/row_session.hpp"
#include "row_place.hpp"

#include <heddle/host/session_image.hpp>

#include <memory>
#include <string>
#include <utility>

namespace heddle::cli {

/// Makes sessions. They share the program, which the first one loads; where they cannot
/// (host::session_image), each one loads it. Threads: the loop's.
class row_sessions {
public:
    /// All of it outlives the sessions. `notes`: what the top level got from outside in evaluations
    /// on other loops; of the first one, only a seed.
    row_sessions(row_place place, const batch_program& program, top_level_notes notes)
        : place_(place), program_(program), notes_(std::move(notes)) {}

    /// What the top level got in an earlier process. Before the first session.
    void begin_with(top_level_notes notes) {
        notes_ = std::move(notes);
        are_earlier_ = true;
    }
    /// Whether that was used.
    [[nodiscard]] bool has_earlier() const noexcept { return are_earlier_; }

    /// A session that no row has used, with the program loaded. Errors: as row_session::load.
    [[nodiscard]] coro::task<result<std::unique_ptr<row_session>>> open(coro::call_context context);

    /// All other threads have loaded the program. What they and this one got that no run keeps is
    /// freed, unless each session loads the program again.
    void end_loading() noexcept {
        if (image_) notes_.drop_late();
    }

    /// The error of the program that open() returned last, with its place, as people read it.
    [[nodiscard]] const std::string& last_failure() const noexcept { return last_failure_; }
    /// What the top level of the program has got from outside, once a session was made.
    [[nodiscard]] const top_level_notes& notes() const noexcept { return notes_; }

private:
    [[nodiscard]] std::unique_ptr<row_meter> new_meter();
    [[nodiscard]] coro::task<result<std::unique_ptr<row_session>>> load(host::run_options bounds);
    [[nodiscard]] result<std::unique_ptr<row_session>> share(std::unique_ptr<row_session> loaded);

    row_place place_;
    const batch_program& program_;
    top_level_notes notes_;
    std::shared_ptr<host::session_image> image_; ///< null: none yet, or the program has none
    bool has_tried_ = false;                     ///< to make an image
    bool are_earlier_ = false;                   ///< the notes are those of an earlier process
    std::string last_failure_;
};

} // namespace heddle::cli
