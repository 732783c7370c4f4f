// Batches in a directory of their own.
#pragma once

#include "child_process.hpp"
#include "scratch_directory.hpp"

#include <gtest/gtest.h>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace heddle::cli_test {

/// Settings of a provider that retries no request.
inline constexpr const char* no_retries = "[providers.openai]\nmax_retries = 0\n";

class batch_fixture : public testing::Test {
protected:
    /// Objects {"id": "r0", "text": "t0"} and so on.
    std::string rows_file(int count, const std::string& name = "rows.jsonl") const {
        std::string text;
        for (int i = 0; i < count; ++i) {
            const std::string number = std::to_string(i);
            text += R"({"id": "r)" + number + R"(", "text": "t)" + number + "\"}\n";
        }
        return scratch.file(name, text);
    }
    [[nodiscard]] std::string path(const std::string& name) const {
        return scratch.path() + "/" + name;
    }
    /// `heddle batch`: the workflow, rows.jsonl, out.jsonl, and more.
    [[nodiscard]] std::vector<std::string> command(std::vector<std::string> more = {}) const {
        std::vector<std::string> strings{"batch", path("w.heddle"),  "--rows", path("rows.jsonl"),
                                         "--out", path("out.jsonl"), "--id",   "id"};
        strings.insert(strings.end(), more.begin(), more.end());
        return strings;
    }
    /// As `command`, with gpt-4o of the service at `url` as the model.
    [[nodiscard]] std::vector<std::string> asking(const std::string& url,
                                                  std::vector<std::string> more = {}) const {
        std::vector<std::string> all{"--model", "openai:gpt-4o", "--base-url", url};
        all.insert(all.end(), more.begin(), more.end());
        return command(std::move(all));
    }
    /// As `asking`, with a provider that retries nothing.
    [[nodiscard]] std::vector<std::string> asking_once(const std::string& url,
                                                       std::vector<std::string> more = {}) const {
        more.insert(more.end(), {"--config", scratch.file("no_retries.toml", no_retries)});
        return asking(url, std::move(more));
    }
    /// With a home directory, where what the user has started is noted.
    [[nodiscard]] child_options at_home() const {
        child_options options;
        options.variables["HOME"] = path("home");
        return options;
    }
    /// `heddle ARGUMENT…` to its end, at home.
    [[nodiscard]] child_result run_heddle(std::vector<std::string> strings,
                                          child_options options = {}) const {
        options.variables.emplace("HOME", path("home"));
        return cli_test::run_heddle(std::move(strings), std::move(options));
    }
    [[nodiscard]] child_result batch(std::vector<std::string> more = {}) const {
        return run_heddle(command(std::move(more)));
    }
    /// The lines of a file, which must be whole.
    [[nodiscard]] std::vector<boost::json::object> lines_of(const std::string& name) const {
        const std::string text = scratch.text_of(name);
        EXPECT_TRUE(text.empty() || text.back() == '\n') << name;
        std::vector<boost::json::object> lines;
        std::istringstream in(text);
        for (std::string line; std::getline(in, line);) {
            lines.push_back(boost::json::parse(line).as_object());
        }
        return lines;
    }
    /// How often each id is in a file.
    [[nodiscard]] std::map<std::string, int> ids_in(const std::string& name) const {
        std::map<std::string, int> counts;
        for (const auto& line : lines_of(name)) ++counts[std::string(line.at("id").as_string())];
        return counts;
    }
    void expect_each_row_once(int count) const {
        const auto ids = ids_in("out.jsonl");
        EXPECT_EQ(ids.size(), static_cast<std::size_t>(count));
        for (const auto& [id, times] : ids) EXPECT_EQ(times, 1) << id;
    }

    scratch_directory scratch;
    /// Computes; needs no model.
    std::string computing = scratch.file("w.heddle", "(define (main text) (string-upcase text))");
};

/// Asks a model for each row.
inline constexpr const char* asking_workflow =
    "(defatom ask (params q) (instructions \"{{q}}\"))\n"
    "(define (main text) (ask text))\n";

} // namespace heddle::cli_test
