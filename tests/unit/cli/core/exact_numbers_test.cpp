// Numbers of values and errors, wherever the program prints them within its own JSON.
#include "batch/rows/row_attempt.hpp"
#include "journal/step_trace.hpp"
#include "json_or_text.hpp"
#include "render.hpp"
#include "template_text.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/setup/json_line.hpp>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <gtest/gtest.h>
#include <hard_numbers.hpp>

#include <cstdio>
#include <memory>

namespace heddle::cli {
namespace {

using testing::bits_in;
using testing::bits_of;

class exact_numbers : public ::testing::Test {
protected:
    /// As (error "no" LIST) fails.
    [[nodiscard]] error failure_with(const std::string& json) {
        auto payload = std::make_shared<lang::script_payload>();
        payload->data = lang::json_to_value(*memory, "[" + json + "]").value();
        return error(lang::errc::user, "no").with_payload(std::move(payload));
    }
    /// The last line of `heddle runs replay --json`.
    [[nodiscard]] static std::string end_of_replay(const replay_end& how) {
        const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::tmpfile(), &std::fclose);
        {
            console output(out.get(), stderr, console_traits());
            replay_request asked;
            asked.json = true;
            (void)step_trace(asked, output).end(how);
        }
        std::rewind(out.get());
        std::string text(100'000, '\0');
        text.resize(std::fread(text.data(), 1, text.size(), out.get()));
        return text;
    }

    const std::vector<double> numbers = testing::hard_numbers();
    const std::string list = testing::json_of_numbers(numbers);
    lang::heap_owner memory{lang::heap::create()};
};

TEST_F(exact_numbers, of_a_replay) {
    replay_end done;
    done.row.value_json = R"({"n":)" + list + "}";
    EXPECT_EQ(bits_in(end_of_replay(done)), bits_of(numbers));
    replay_end failed;
    failed.row.error_json = R"({"data":[)" + list + "]}";
    EXPECT_EQ(bits_in(end_of_replay(failed)), bits_of(numbers));
}

TEST_F(exact_numbers, of_a_value_that_is_deep) {
    replay_end done;
    done.row.value_json = std::string(200, '[') + "0.30000000000000004" + std::string(200, ']');
    EXPECT_NE(end_of_replay(done).find("\"value\":" + *done.row.value_json), std::string::npos);
    done.row.value_json = std::string(5000, '[') + std::string(5000, ']');
    EXPECT_NE(end_of_replay(done).find("\"value\":\"[["), std::string::npos);
}

TEST_F(exact_numbers, of_an_error) {
    const error failure = failure_with(list);
    EXPECT_EQ(bits_in(render_error_json(failure, source_map(), exit_code::failed, {})),
              bits_of(numbers));
    EXPECT_EQ(bits_in(failed_outcome(failure, source_map()).error_json), bits_of(numbers));
}

TEST_F(exact_numbers, of_an_error_that_is_deep) {
    const std::string deep = std::string(100, '[') + "0.30000000000000004" + std::string(100, ']');
    EXPECT_NE(failed_outcome(failure_with(deep), source_map()).error_json.find(deep),
              std::string::npos);
}

TEST_F(exact_numbers, of_a_template) {
    tasks::task_template one;
    one.name = "t";
    one.declares_inputs = true;
    tasks::task_input& input = one.inputs.emplace_back();
    input.name = "n";
    input.default_json = list;
    EXPECT_EQ(bits_in(setup::json_text(template_json(one))), bits_of(numbers));
}

TEST_F(exact_numbers, json_or_text_takes_both) {
    EXPECT_EQ(json_or_text("9007199254740993"), 9007199254740993);
    EXPECT_EQ(json_or_text("{\"a\""), boost::json::value("{\"a\""));
}

} // namespace
} // namespace heddle::cli
