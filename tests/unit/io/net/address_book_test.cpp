// Lookups of names that take for ever.
#include "net/address_book.hpp"

#include <heddle/ports/http_port.hpp>

#include <loopback_runner.hpp>

#include <gtest/gtest.h>
#include <hang_guard.hpp>

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace heddle::net {
namespace {

using namespace std::chrono_literals;

found_addresses one_address() {
    return std::vector<boost::asio::ip::address>{boost::asio::ip::make_address("127.0.0.7")};
}

/// Holds lookups up until it is opened. Shared with their threads.
class barrier {
public:
    void open() {
        const std::scoped_lock lock(mutex_);
        is_open_ = true;
        changed_.notify_all();
    }
    void pass() {
        std::unique_lock lock(mutex_);
        ++arrived_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return is_open_; });
        --arrived_;
        changed_.notify_all();
    }
    void wait_for(int count) {
        std::unique_lock lock(mutex_);
        EXPECT_TRUE(changed_.wait_for(lock, 10s, [&] { return arrived_ == count; }));
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_open_ = false;
    int arrived_ = 0;
};

struct listener final : lookup_listener {
    void on_addresses(result<address_list> found) noexcept override {
        ++reported;
        good = found.has_value();
    }
    int reported = 0;
    bool good = false;
};

class names : public ::testing::Test {
protected:
    ~names() override {
        held->open();
        held->wait_for(0);
    }
    [[nodiscard]] name_resolver hanging() const {
        return [held = held](const std::string&) {
            held->pass();
            return one_address();
        };
    }
    [[nodiscard]] std::unique_ptr<address_book> book(name_resolver ask) {
        return std::make_unique<address_book>(test->loop, "name.test", std::uint16_t{80}, 30s,
                                              std::vector<std::string>(), std::move(ask));
    }
    /// The loop until it has no work left. True when that took no longer than `limit`.
    [[nodiscard]] bool ends_within(std::chrono::milliseconds limit) {
        const auto began = coro::clock::now();
        test->turn(limit);
        return coro::clock::now() - began < limit;
    }

    std::shared_ptr<barrier> held = std::make_shared<barrier>();
    std::unique_ptr<loopback::runner> test = std::make_unique<loopback::runner>();
};

TEST_F(names, that_hang_hold_up_no_other) {
    const auto slow = book(hanging());
    const auto quick = book([](const std::string&) { return one_address(); });
    listener waits;
    listener served;
    EXPECT_FALSE(slow->addresses(waits));
    held->wait_for(1);
    EXPECT_FALSE(quick->addresses(served));
    EXPECT_TRUE(hang_guard::comes_true([&] {
        test->turn();
        return served.reported != 0;
    }));
    EXPECT_TRUE(served.good);
    EXPECT_EQ(waits.reported, 0);
    listener again;
    const address_list known = quick->addresses(again); // remembered
    ASSERT_TRUE(known);
    EXPECT_EQ(known->front().address().to_string(), "127.0.0.7");
    EXPECT_EQ(known->front().port(), 80);
}

TEST_F(names, that_somebody_waits_for_keep_the_loop_going) {
    const auto slow = book([](const std::string&) {
        std::this_thread::sleep_for(50ms);
        return one_address();
    });
    listener waits;
    EXPECT_FALSE(slow->addresses(waits));
    EXPECT_TRUE(ends_within(hang_guard::limit));
    EXPECT_TRUE(waits.good);
}

TEST_F(names, that_hang_do_not_keep_the_loop_once_they_are_let_go) {
    const auto slow = book(hanging());
    listener waits;
    EXPECT_FALSE(slow->addresses(waits));
    held->wait_for(1);
    EXPECT_FALSE(ends_within(50ms));
    slow->stop();
    EXPECT_TRUE(ends_within(hang_guard::limit));
    EXPECT_EQ(waits.reported, 0);
}

TEST_F(names, that_hang_may_outlive_everybody) {
    auto slow = book(hanging());
    {
        listener waits;
        EXPECT_FALSE(slow->addresses(waits));
        held->wait_for(1);
    }
    slow.reset();
    test.reset();
    held->open();
    held->wait_for(0);
    std::this_thread::sleep_for(20ms); // the thread is past the barrier, with nobody to tell
}

TEST_F(names, are_looked_up_once_for_all_who_ask) {
    std::atomic<int> asked{0};
    const auto shared = book([&](const std::string& host) {
        EXPECT_EQ(host, "name.test");
        ++asked;
        std::this_thread::sleep_for(20ms);
        return one_address();
    });
    std::array<listener, 10> all;
    for (listener& each : all) EXPECT_FALSE(shared->addresses(each));
    EXPECT_TRUE(ends_within(hang_guard::limit));
    EXPECT_EQ(asked, 1);
    for (const listener& each : all) EXPECT_EQ(each.reported, 1);
}

TEST_F(names, that_are_not_known_are_asked_for_again) {
    int asked = 0;
    const auto failing = book([&](const std::string&) -> found_addresses {
        ++asked;
        return error(ports::http_errc::resolve_failed, "no");
    });
    for (int i = 1; i < 3; ++i) {
        listener waits;
        EXPECT_FALSE(failing->addresses(waits));
        EXPECT_TRUE(ends_within(hang_guard::limit));
        EXPECT_EQ(waits.reported, 1);
        EXPECT_FALSE(waits.good);
        EXPECT_EQ(asked, i);
    }
}

TEST(ask_system, reads_addresses_and_the_hosts_of_this_machine) {
    const auto numeric = ask_system("127.0.0.9");
    ASSERT_TRUE(numeric) << numeric.error().message();
    EXPECT_EQ(numeric->front().to_string(), "127.0.0.9");
    const auto here = ask_system("localhost"); // /etc/hosts
    ASSERT_TRUE(here) << here.error().message();
    EXPECT_TRUE(here->front().is_loopback());
    const auto wrong = ask_system("two words");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code(), ports::make_error_code(ports::http_errc::resolve_failed));
    EXPECT_NE(wrong.error().message().find("no address for the host two words ("),
              std::string::npos);
}

} // namespace
} // namespace heddle::net
