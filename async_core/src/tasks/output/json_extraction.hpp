// Finds the JSON in what a model wrote.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/lang/work.hpp>

#include <string>
#include <string_view>

namespace heddle::tasks {

struct extracted_json {
    lang::value content;
    std::string_view text;  ///< what it was read from: part of the response, or of `repaired`
    std::string repaired;   ///< empty unless something had to be mended
    bool completed = false; ///< brackets that were missing at the end were added

    extracted_json() = default;
    extracted_json(extracted_json&&) = delete; ///< `text` may point into `repaired`
};

/// Reads the one JSON value of a response: the whole text; else the content of its only code fence;
/// else the only object or array inside the prose. A trailing comma is dropped, and half a
/// character (`\ud83e` alone) becomes U+FFFD. With `cut` (the
/// model stopped at its length limit) a member that is not whole is dropped and the open brackets
/// are closed. The time is linear in the length of the text.
/// Errors: invalid_argument with what is wrong, in one line; any when `work` stops.
[[nodiscard]] result<void> extract_json(lang::heap& memory, std::string_view response, bool cut,
                                        extracted_json& found, lang::work_meter& work);

/// The whole response as JSON, without looking for it and without repair. Errors: as extract_json.
[[nodiscard]] result<void> read_json_as_it_is(lang::heap& memory, std::string_view response,
                                              extracted_json& found, lang::work_meter& work);

} // namespace heddle::tasks
