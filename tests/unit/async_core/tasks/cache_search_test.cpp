#include "tasks/run/cache_search.hpp"

#include "tasks_testing.hpp"

#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using ports::cache_use;

class caching_model final : public ports::llm_port {
public:
    std::string_view provider_name() const noexcept override { return "caching"; }
    bool keeps_responses() const noexcept override { return keeps; }
    coro::task<result<ports::chat_response>> complete(const ports::chat_request&,
                                                      coro::call_context) override {
        co_return ports::chat_response{};
    }
    coro::task<result<ports::chat_response>> stream(const ports::chat_request&,
                                                    ports::chat_delta_sink,
                                                    coro::call_context) override {
        co_return ports::chat_response{};
    }
    bool keeps = true;
};

const result<ports::chat_response> some = ports::chat_response{};
const result<ports::chat_response> none =
    error(ports::make_error_code(ports::llm_errc::not_found), "not in the cache");
const result<ports::chat_response> stopped = error::cancelled(cancel_reason::user);

ports::chat_request request_of(cache_use use) {
    ports::chat_request request;
    request.scheduling.cache = use;
    return request;
}

TEST(cache_search, needs_a_cache_and_a_request_that_may_use_it) {
    caching_model model;
    EXPECT_TRUE(cache_search::is_possible(request_of(cache_use::shared), model));
    EXPECT_TRUE(cache_search::is_possible(request_of(cache_use::apart), model));
    EXPECT_FALSE(cache_search::is_possible(request_of(cache_use::renewed), model));
    EXPECT_FALSE(cache_search::is_possible(request_of(cache_use::none), model));
    EXPECT_FALSE(cache_search::is_possible(request_of(cache_use::kept), model));
    model.keeps = false;
    EXPECT_FALSE(cache_search::is_possible(request_of(cache_use::shared), model));
}

TEST(cache_search, without_a_response_the_request_is_sent_as_it_was_and_not_looked_for_again) {
    caching_model model;
    cache_search search;
    ports::chat_request request = request_of(cache_use::apart);
    ASSERT_TRUE(search.may_look_first(request, model));
    search.look_first(request);
    EXPECT_EQ(request.scheduling.cache, cache_use::kept);

    EXPECT_TRUE(search.found_nothing(request, none));
    EXPECT_EQ(request.scheduling.cache, cache_use::apart);
    EXPECT_FALSE(search.may_look_first(request, model)) << "once per request";

    EXPECT_FALSE(search.found_nothing(request, some)) << "the response was paid for";
    EXPECT_TRUE(search.may_look_first(request, model)) << "the next request of the task";
}

TEST(cache_search, a_cached_response_and_a_cancellation_end_the_search) {
    for (const auto* ended : {&some, &stopped}) {
        caching_model model;
        cache_search search;
        ports::chat_request request = request_of(cache_use::shared);
        search.look_first(request);
        EXPECT_FALSE(search.found_nothing(request, *ended));
        EXPECT_EQ(request.scheduling.cache, cache_use::shared);
        EXPECT_TRUE(search.may_look_first(request, model));
    }
}

TEST(cache_search, in_place_of_a_request_that_no_budget_covers) {
    cache_search search;
    ports::chat_request request = request_of(cache_use::shared);
    EXPECT_FALSE(search.found_nothing_instead(request, none)) << "nothing was looked for";

    search.look_instead(request, {"cost", 1, 1, "used up"});
    EXPECT_EQ(request.scheduling.cache, cache_use::kept);
    const auto over = search.found_nothing_instead(request, none);
    ASSERT_TRUE(over);
    EXPECT_EQ(over->message, "used up");
    EXPECT_EQ(request.scheduling.cache, cache_use::shared);
    EXPECT_FALSE(search.found_nothing_instead(request, none)) << "reported once";

    for (const auto* ended : {&some, &stopped}) {
        search.look_instead(request, {"cost", 1, 1, "used up"});
        EXPECT_FALSE(search.found_nothing_instead(request, *ended));
        EXPECT_EQ(request.scheduling.cache, cache_use::shared);
    }
}

} // namespace
} // namespace heddle::tasks
