// Which steps of a row differ between two runs.
#pragma once

#include <heddle/ports/run_journal.hpp>

#include <boost/json/array.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

/// A step that is not the same in both runs.
struct step_difference {
    struct side {
        std::uint64_t step = 0; ///< its number in the row, from 1
        std::string kind;       ///< as of shown_answer
        std::string text;
    };
    std::string path; ///< 32 hex digits; the same in both runs
    std::string name; ///< of the task, tool or builtin
    std::optional<side> a;
    std::optional<side> b;
    bool arguments = false; ///< it was called with others
    bool request = false;   ///< it asked a model for something else: prompt, model, settings
    bool response = false;  ///< it returned something else
};

/// The steps of the last attempt of each side. A step is the same one if the same way leads to it,
/// whatever it is called with; those of `a` come in their order, then those of `b` alone.
[[nodiscard]] std::vector<step_difference> compare_steps(std::vector<ports::step_record> a,
                                                         std::vector<ports::step_record> b);

/// A line for each: "    step 2 ask: request and response differ".
[[nodiscard]] std::string text_of(const std::vector<step_difference>& steps);
[[nodiscard]] boost::json::array json_of(const std::vector<step_difference>& steps);

} // namespace heddle::cli
