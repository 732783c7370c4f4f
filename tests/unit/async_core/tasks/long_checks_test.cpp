// Responses and arguments of several MB: what looks at them takes turns with the loop.
#include "tasks_testing.hpp"

#include <heddle/lang/map.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/asio/steady_timer.hpp>
#include <sanitizers.hpp>

#include <algorithm>
#include <ctime>

namespace heddle::tasks {
namespace {

using namespace std::chrono_literals;
using testing::harness;
using ::testing::StartsWith;

/// Processor time of this thread, which other work of the machine does not lengthen.
std::chrono::nanoseconds processor_time() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

/// Has a turn of a loop whenever there is one, and notes how much was computed between two: that
/// long a timer of the loop cannot fire.
class loop_turns {
public:
    explicit loop_turns(loopback::runner& on) : timer_(on.io) { arm(); }
    [[nodiscard]] std::chrono::nanoseconds most() const noexcept { return most_; }

private:
    void arm() {
        timer_.expires_after(100us);
        timer_.async_wait([this](boost::system::error_code failed) {
            if (failed) return;
            const auto now = processor_time();
            most_ = std::max(most_, now - before_);
            before_ = now;
            arm();
        });
    }

    boost::asio::steady_timer timer_;
    std::chrono::nanoseconds before_ = processor_time();
    std::chrono::nanoseconds most_{0};
};

/// A list of `bytes` bytes, with `last` as its last element.
std::string long_list(std::size_t bytes, std::string_view element, std::string_view last) {
    std::string text = "[";
    while (text.size() + element.size() + last.size() + 2 <= bytes) text.append(element) += ',';
    return text.append(last) += ']';
}

constexpr std::string_view row = R"({"id":1234567,"name":"a name","tags":["one","two"]})";
constexpr std::string_view schema =
    R"({"type":"array","items":{"type":"object","required":["id"],"properties":{)"
    R"("id":{"type":"integer","minimum":0},"name":{"type":"string","pattern":"^[a-z ]*$"},)"
    R"("tags":{"type":"array","items":{"type":"string"}}}}})";

task_template answering(std::string_view with) {
    task_template declared;
    declared.name = "t";
    declared.instructions = "go";
    declared.output = {true, std::string(with)};
    declared.retries = 0;
    return declared;
}

struct long_response {
    const char* name;
    std::string schema;
    std::string text;
    const char* status;
};

std::vector<long_response> long_responses() {
    return {
        {"by a JSON Schema", std::string(schema), long_list(4'000'000, row, row), "\"COMPLETE\""},
        {"wrong at its end", std::string(schema), long_list(4'000'000, row, R"({"id":"x"})"),
         "\"FAILED\""},
        {"by a name", "number[]", long_list(5'000'000, "1234567", "1"), "\"COMPLETE\""},
        {"in prose, damaged", "number[]", "Here: " + long_list(5'000'000, "1234567", "1,"),
         "\"COMPLETE\""},
    };
}

struct long_check {
    std::chrono::nanoseconds took;
    std::chrono::nanoseconds late; ///< the most between two turns of the loop
};

long_check check_long(const long_response& response) {
    harness w({answering(response.schema)});
    w.llm.say(response.text);
    const loop_turns turns(w.runner);
    const auto began = processor_time();
    EXPECT_EQ(w.json("(get (t) 'status)"), response.status);
    const auto took = processor_time() - began;
    return {took, turns.most()};
}

TEST(long_checks, of_responses_let_timers_fire) {
    for (const long_response& each : long_responses()) {
        SCOPED_TRACE(each.name);
        const auto [took, late] = check_long(each);
        // All of it in one go was as late as it took.
        EXPECT_LT(late, std::max<std::chrono::nanoseconds>(300ms, took / 2))
            << std::chrono::duration_cast<std::chrono::milliseconds>(took).count() << " ms";
        RecordProperty("ms", std::to_string(took / 1ms));
    }
}

/// Each of `levels` schemas asks for the next one twice, of the same value.
std::string doubling(int levels, const std::string& last) {
    std::string text = R"({"$defs":{)";
    for (int i = 0; i < levels; ++i) {
        const std::string next = R"({"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"}";
        text += "\"d" + std::to_string(i) + R"(":{"allOf":[)" + next + "," + next + "]},";
    }
    return text + "\"d" + std::to_string(levels) + "\":" + last + R"(},"$ref":"#/$defs/d0"})";
}

std::string object_of(int members) {
    std::string text = "{\"a\":1";
    for (int i = 0; i < members; ++i) text += ",\"m" + std::to_string(i) + "\":0";
    return text + "}";
}

/// A check of what holds much by many schemas, each of which constrains little of it.
std::vector<long_response> much_checked_responses() {
    const std::string text = "\"" + std::string(3'900'000, 'x') + "\"";
    std::string any = R"({"anyOf":[{"type":"null"})";
    for (int i = 0; i < 30; ++i) any += R"(,{"maxLength":)" + std::to_string(i) + "}";
    std::string elements = "[0";
    for (int i = 0; i < 1'900'000; ++i) elements += ",0";
    elements += "]";
    const std::string name = "{\"" + std::string(3'900'000, 'n') + "\":[0]}";
    return {
        {"members", doubling(12, R"({"properties":{"a":{}}})"), object_of(2000), "\"FAILED\""},
        {"many members", doubling(12, R"({"properties":{"a":{}}})"), object_of(290'000),
         "\"FAILED\""},
        {"characters", doubling(12, R"({"maxLength":5000000})"), text, "\"FAILED\""},
        {"few lengths", any + "]}", text, "\"FAILED\""},
        {"elements", doubling(12, R"({"items":[]})"), elements, "\"FAILED\""},
        {"a value", doubling(12, R"({"enum":["x"]})"), text, "\"FAILED\""},
        {"a name", doubling(12, R"({"propertyNames":true})"), name, "\"FAILED\""},
        {"below a name", doubling(12, R"({"additionalProperties":{"items":{}}})"), name,
         "\"FAILED\""},
    };
}

TEST(long_checks, by_many_schemas_let_timers_fire_and_end) {
    for (const long_response& each : much_checked_responses()) {
        SCOPED_TRACE(each.name);
        const auto [took, late] = check_long(each);
        EXPECT_LT(late, 500ms * sanitizers::slowed_down) << took / 1ms << " ms";
        EXPECT_LT(took, 10s * sanitizers::slowed_down); // those that are given up took 2 to 30
    }
}

TEST(long_checks, end_with_the_time_of_the_task) {
    harness w({answering(schema)});
    const std::string text = long_list(4'000'000, row, row);
    w.llm.say(text);
    const std::string reported = w.json(
        "(let ((r (t (timeout 0.03)))) (list (get r 'status) (get-in r '(\"notes\" "
        "\"error\" \"reason\")) (string-length (get r 'content)) (get-in r '(\"notes\" "
        "\"usage\" \"input_tokens\"))))");
    EXPECT_EQ(reported, R"(["FAILED","execution_timeout",)" + std::to_string(text.size()) + ",10]");
    EXPECT_EQ(w.llm.asked.size(), 1U);
}

TEST(long_checks, end_when_the_run_is_cancelled) {
    harness w({answering(schema)});
    w.llm.say(long_list(4'000'000, row, row));
    coro::cancel_source cancel;
    boost::asio::steady_timer later(w.runner.io);
    bool cancelled = false;
    w.llm.replies.push_front([&, response = w.llm.replies.front()](const ports::chat_request& of) {
        later.expires_after(5ms); // the check has begun by then
        later.async_wait([&](boost::system::error_code) {
            cancelled = true;
            cancel.request(cancel_reason::user);
        });
        return response(of);
    });
    host::run_options options;
    options.cancel = &cancel;
    const auto ended = w.run("(get (t) 'status)", options);
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().cancelled_because(), cancel_reason::user);
    ASSERT_TRUE(cancelled);
    EXPECT_EQ(w.observer.outcomes, (std::vector<task_outcome>{task_outcome::cancelled}));
    EXPECT_EQ(w.observer.input_tokens, 10) << "the response was paid for";
}

TEST(long_checks, of_arguments_let_timers_fire) {
    harness w;
    tool counts;
    counts.name = "test:count";
    counts.description = "counts";
    counts.input_schema = R"({"type":"object","properties":{"rows":)" + std::string(schema) +
                          R"(},"required":["rows"]})";
    counts.run = [](tool_call call) -> coro::task<result<lang::value>> {
        co_return lang::value::integer(
            static_cast<std::int64_t>(lang::map_find(call.inputs, "rows")->length()));
    };
    auto* tasks = static_cast<session_tasks*>(w.session->operators());
    ASSERT_TRUE(tasks->add(std::move(counts)));
    const std::string rows = long_list(3'000'000, row, row);
    w.llm.replies.push_back([&](const ports::chat_request&) -> result<ports::chat_response> {
        ports::chat_response response;
        response.finish = ports::finish_reason::tool_calls;
        response.tool_calls.push_back({"1", "test_count", "{\"rows\":" + rows + "}"});
        return response;
    });
    w.llm.say("done");
    const loop_turns turns(w.runner);
    const auto began = processor_time();
    EXPECT_EQ(w.json("(defatom ask (params) (instructions \"go\") (tools (test:count))) "
                     "(content (ask))"),
              "\"done\"");
    const auto took = processor_time() - began;
    EXPECT_LT(turns.most(), std::max<std::chrono::nanoseconds>(50ms, took / 4))
        << std::chrono::duration_cast<std::chrono::milliseconds>(took).count() << " ms";
    ASSERT_EQ(w.llm.asked.size(), 2U);
    EXPECT_EQ(w.llm.asked[1].messages.back().text,
              std::to_string(1 + (rows.size() - row.size() - 2) / (row.size() + 1)));
}

/// A task whose schema has `count` patterns that take some ms each.
std::string with_patterns(int count, int repeated) {
    std::string all;
    for (int i = 0; i < count; ++i) {
        if (i != 0) all += ',';
        all += R"({\"pattern\":\"(x{1,)" + std::to_string(repeated) + "}y){1}" + std::to_string(i) +
               R"($\"})";
    }
    return R"((defatom p (params) (instructions "x")
                (output_format ((type "json") (schema "{\"anyOf\":[)" +
           all + R"(]}")))))";
}

TEST(long_checks, compiling_one_pattern_lets_timers_fire) {
    harness w;
    const loop_turns turns(w.runner);
    const auto began = processor_time();
    // Takes 0.1 s: the letters of all scripts, a hundred times.
    EXPECT_EQ(w.json(R"((defatom p (params) (instructions "x") (output_format ((type "json")
                    (schema "{\"pattern\":\"^[\\\\p{L}_]{1,90}$\"}")))) 1)"),
              "1");
    const auto took = processor_time() - began;
    EXPECT_LT(turns.most(), std::max<std::chrono::nanoseconds>(30ms, took / 4))
        << took / 1ms << " ms";
}

TEST(long_checks, reading_a_schema_lets_timers_fire_and_ends) {
    harness w;
    const loop_turns turns(w.runner);
    const auto began = processor_time();
    EXPECT_EQ(w.json(with_patterns(30, 600) + " 1"), "1");
    const auto took = processor_time() - began;
    EXPECT_LT(turns.most(), std::max<std::chrono::nanoseconds>(50ms, took / 4))
        << took / 1ms << " ms";
    RecordProperty("ms", std::to_string(took / 1ms));
    const auto later = processor_time();
    EXPECT_EQ(w.json("(timeout 0.02 " + with_patterns(50, 400) + " 'late)"), "\"late\"");
    EXPECT_LT(processor_time() - later, 2s);
    EXPECT_THAT(w.json(with_patterns(300, 900)), ::testing::HasSubstr("too large together"));
}

} // namespace
} // namespace heddle::tasks
