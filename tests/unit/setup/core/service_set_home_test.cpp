// Sessions on several threads that share the services of one.
#include <heddle/setup/service_set.hpp>

#include <heddle/coro/spawn.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/providers/common/remote_provider.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

#include <counting_service.hpp>
#include <loop_thread.hpp>

#include <boost/asio/post.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <future>
#include <mutex>
#include <set>
#include <thread>

namespace heddle::setup {
namespace {

using loopback::loop_thread;

/// Notes the threads on which requests are sent.
class sending_threads final : public request_watch {
public:
    std::optional<error> on_request(const seen_request&) override {
        threads.insert(std::this_thread::get_id());
        return std::nullopt;
    }
    std::set<std::thread::id> threads;
};

coro::task<void> evaluate(host::engine* engine, std::string source, std::promise<std::string>* to) {
    std::string shown;
    {
        auto session = engine->new_session().value();
        auto value = co_await session->evaluate("test", std::move(source), {});
        if (!value) shown = "error: " + value.error().message();
        else shown = lang::string_bytes(*value);
    }
    to->set_value(shown);
}

constexpr const char* workflow = R"((defatom ask (params text) (instructions "Is it {{text}}?"))
(string-join (map (lambda (number) (content (ask (string-append "NAME" (number->string number)))))
                  (range 30)) " "))";

TEST(service_sets_with_a_home, names_lead_to_the_same_models_through_other_ports) {
    boost::asio::io_context io{1};
    coro::event_loop loop{io};
    service_set_options options;
    options.config_text =
        "model = \"fast\"\n[aliases]\nfast = \"both\"\n"
        "[routes.both]\nmodels = [\"one:m\", \"two:n\"]\n"
        "[providers.one]\ntype = \"ollama\"\nbase_url = \"http://127.0.0.1:9\"\n"
        "[providers.two]\ntype = \"ollama\"\nbase_url = \"http://127.0.0.1:8\"\n";
    auto set = service_set::create(loop, null_log(), options);
    ASSERT_TRUE(set) << set.error().message();
    boost::asio::io_context io_beside{1};
    coro::event_loop loop_beside{io_beside};
    service_set_options of_beside;
    of_beside.config_text = "model = \"nothing:is-read\"";
    of_beside.home = set->get();
    auto beside = service_set::create(loop_beside, null_log(), of_beside);
    ASSERT_TRUE(beside) << beside.error().message();
    const tasks::model_registry& models = *(*beside)->task_parts().models;
    const tasks::model_registry& home = (*set)->models().registry();
    for (const char* name : {"", "fast", "both", "one:m", "two:x"}) {
        const auto near = home.resolve(name, "").value();
        const auto far = models.resolve(name, "").value();
        EXPECT_TRUE(dynamic_cast<providers::remote_provider*>(far.provider)) << name;
        EXPECT_EQ(far.provider->provider_name(), near.provider->provider_name()) << name;
        EXPECT_EQ(far.model, near.model) << name;
        EXPECT_EQ(far.settings, near.settings) << name;
        EXPECT_EQ(far.route_models.size(), near.route_models.size()) << name;
    }
    EXPECT_FALSE(models.resolve("m", "three"));
    EXPECT_EQ((*beside)->task_parts().memory, &(*beside)->memory());
    EXPECT_EQ((*beside)->processes(), nullptr);
}

TEST(service_sets_with_a_home, loops_share_limits_and_connections_of_the_home_loop) {
    loopback::counting_service service;
    service_set_options options;
    options.variables.lookup = [](const std::string& name) {
        return name == "KEY" ? std::optional<std::string>("sk-test-0123456789") : std::nullopt;
    };
    options.config_text = service.config("api_key_env = \"KEY\"\n");
    sending_threads sent;
    options.of_sent = &sent;
    loop_thread home;
    std::unique_ptr<service_set> set;
    std::promise<void> ready;
    boost::asio::post(home.loop().get_executor(), [&] {
        auto created = service_set::create(home.loop(), null_log(), options);
        EXPECT_TRUE(created) << created.error().message();
        if (created) set = *std::move(created);
        ready.set_value();
    });
    ready.get_future().wait();
    ASSERT_TRUE(set);

    constexpr int count = 3;
    std::promise<std::string> shown[count];
    {
        std::deque<std::unique_ptr<service_set>> beside;
        std::deque<host::engine> engines;
        std::deque<loop_thread> loops;
        for (int i = 0; i < count; ++i) {
            loop_thread& own = loops.emplace_back();
            service_set_options borrowing;
            borrowing.home = set.get();
            auto borrower = service_set::create(own.loop(), null_log(), borrowing);
            ASSERT_TRUE(borrower) << borrower.error().message();
            beside.push_back(*std::move(borrower));
            host::engine_parts parts = beside.back()->engine_parts();
            parts.operators = tasks::operators(beside.back()->task_parts());
            host::engine& engine = engines.emplace_back(own.loop(), std::move(parts));
            std::string source = workflow;
            source.replace(source.find("NAME"), 4, "row" + std::to_string(i) + " ");
            boost::asio::post(loops[i].loop().get_executor(), [&, i, source] {
                coro::spawn(loops[i].loop(), evaluate(&engine, source, &shown[i]),
                            [](std::exception_ptr) {});
            });
        }
        for (auto& each : shown) {
            const std::string text = each.get_future().get();
            EXPECT_EQ(text.substr(0, 7), "yes yes") << text;
        }
        // Their sessions have ended.
        for (int i = 0; i < count; ++i) {
            std::promise<void> gone;
            boost::asio::post(loops[i].loop().get_executor(), [&] {
                beside[i].reset();
                gone.set_value();
            });
            gone.get_future().wait();
            loops[i].end();
        }
    }
    EXPECT_EQ(service.requests(), count * 30);
    EXPECT_EQ(service.max_running(), 2);
    EXPECT_LE(service.connections(), 4); // a slow one may be replaced; without sharing 6
    EXPECT_EQ(sent.threads, std::set<std::thread::id>{home.id()});
    std::promise<void> closed;
    boost::asio::post(home.loop().get_executor(), [&] {
        coro::spawn(home.loop(), set->close(), [&](std::exception_ptr) {
            boost::asio::post(home.loop().get_executor(), [&] {
                set.reset(); // before its loop
                closed.set_value();
            });
        });
    });
    closed.get_future().wait();
    home.end();
}

} // namespace
} // namespace heddle::setup
