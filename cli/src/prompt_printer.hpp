// --show-prompts: requests on standard error, as they are sent.
#pragma once

#include "console.hpp"
#include "services/watched_provider.hpp"

#include <heddle/base/redaction.hpp>

#include <string>
#include <utility>
#include <vector>

namespace heddle::cli {

/// Prints every request before it is sent, or those of one task: for people, in parts that are cut
/// where they are long, or as a line of JSON. Lines that nobody reads are dropped as lines of the
/// log are. Threads: the loop's.
class prompt_printer final : public request_watch {
public:
    /// `task`: whose requests; "*": of all. `output` outlives it.
    prompt_printer(console& output, std::string task, bool json)
        : output_(output), task_(std::move(task)), json_(json) {}

    void hide(std::vector<secret> keys) override { secrets_ = redactor(std::move(keys)); }
    [[nodiscard]] std::optional<error> on_request(const seen_request& seen) override;

private:
    console& output_;
    std::string task_;
    bool json_;
    redactor secrets_;
};

} // namespace heddle::cli
