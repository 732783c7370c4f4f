// Runs that are kept in a folder: `heddle run m.heddle --run kept`.
#pragma once

#include "batch_fixture.hpp"

#include <string>
#include <vector>

namespace heddle::cli_test {

class kept_run_fixture : public batch_fixture {
protected:
    /// The command, with gpt-4o of the service at `url` as the model, and more.
    [[nodiscard]] std::vector<std::string> running(const std::string& url,
                                                   std::vector<std::string> more = {}) const {
        std::vector<std::string> all{"run",     path("m.heddle"), "--run",      path("kept"),
                                     "--model", "openai:gpt-4o",  "--base-url", url};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
};

} // namespace heddle::cli_test
