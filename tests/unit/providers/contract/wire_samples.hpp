// Reading the recorded and documented responses, and judging what a codec made of them.
#pragma once

#include "wire_adapter.hpp"

#include <boost/json/object.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace heddle::testing {

/// Ten seconds after the date in err-429-retry-date of openai-chat.
inline const std::chrono::system_clock::time_point wire_now =
    std::chrono::sys_days(std::chrono::year(2026) / 10 / 21) + std::chrono::hours(7) +
    std::chrono::minutes(28) + std::chrono::seconds(10);

struct wire_sample {
    std::string name;
    ports::http_response response;
    bool cut = false; ///< the connection is dropped after the last byte
    boost::json::object expect;
};

/// The samples of response-doc, as index.json lists them.
[[nodiscard]] std::vector<wire_sample> documented_samples(const std::string& provider);
/// The responses of the mock, with the status and type that it sent, and what the cases say that a
/// client must make of them.
[[nodiscard]] std::vector<wire_sample> mock_samples(const std::string& provider);

/// Reads a streamed response in pieces that end at `next_cut`, each a copy of its own size,
/// and checks that the pieces handed out are the text.
[[nodiscard]] result<ports::chat_response> read_pieces(
    providers::chat_codec& codec, std::string_view body,
    const std::function<std::size_t(std::size_t at)>& next_cut);

/// Fails the test unless `read` is what the sample expects.
void expect_as_said(const wire_adapter& adapter, const wire_sample& sample,
                    const result<ports::chat_response>& read);

} // namespace heddle::testing
