// What is parsed and printed on the loop of the server, and what is not.
#include "serve/json_work.hpp"

#include <heddle/fs/local_tree.hpp>

#include <loopback_runner.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace heddle::cli {
namespace {

/// Counts what is done by workers.
class counted_workers final : public ports::worker_port {
public:
    explicit counted_workers(coro::event_loop& loop) : pool_(fs::make_worker_pool(loop)) {}
    coro::task<result<void>> run(work job, coro::call_context context) override {
        ++count;
        return pool_->run(std::move(job), context);
    }
    int count = 0;

private:
    std::unique_ptr<ports::worker_port> pool_;
};

class json_work_test : public testing::Test {
protected:
    json parsed(const std::string& body) {
        http::server_request request;
        request.body = body;
        request.fields = {{"Content-Type", "application/json"}};
        return test.run(data.read(request)).value();
    }
    std::string printed(json given) { return test.run(data.print(std::move(given))).value(); }

    loopback::runner test;
    counted_workers workers{test.loop};
    json_work data{workers, test.loop};
};

std::string text_of_numbers(int count) {
    std::string text = "[0";
    for (int i = 1; i < count; ++i) text += ",1";
    return text + "]";
}

TEST_F(json_work_test, does_what_is_small_at_once) {
    const std::string text = R"({"a":[1,2,{"b":"c"}]})";
    const json read = parsed(text);
    EXPECT_EQ(printed(read), text);
    EXPECT_EQ(test.run(data.text_of(answer(read, {}, {}, ""))).value(), text);
    EXPECT_EQ(workers.count, 0);
}

TEST_F(json_work_test, leaves_what_is_large_to_workers) {
    const std::string text = text_of_numbers(1'000'000);
    json read = parsed(text);
    EXPECT_EQ(workers.count, 1);
    EXPECT_EQ(read.as_array().size(), 1'000'000U);
    EXPECT_EQ(test.run(data.text_of(answer(read, {}, {}, ""))).value(), text);
    EXPECT_EQ(workers.count, 2);
    EXPECT_EQ(printed(std::move(read)), text);
    EXPECT_EQ(workers.count, 3);
    // A text is escaped, and an object has names.
    EXPECT_EQ(printed(std::string(100'000, 'x')).size(), 100'002U);
    EXPECT_EQ(printed(json::object{{std::string(100'000, 'x'), 1}}).size(), 100'006U);
    EXPECT_EQ(workers.count, 5);
}

TEST_F(json_work_test, reports_the_mistakes_of_a_large_text) {
    http::server_request request;
    const std::string body = text_of_numbers(1'000'000) + ",";
    request.body = body;
    request.fields = {{"Content-Type", "application/json"}};
    const result<json> read = test.run(data.read(request));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), make_error_code(errc::invalid_argument));
    EXPECT_NE(read.error().message().find("expected the end of the text"), std::string::npos)
        << read.error().message();
}

} // namespace
} // namespace heddle::cli
