#include <heddle/lang/value_codec.hpp>

#include "lang_fixture.hpp"

#include <heddle/lang/equality.hpp>
#include <heddle/lang/errors.hpp>

#include <failing_allocations.hpp>

#include <bit>
#include <limits>
#include <new>
#include <random>

namespace heddle::lang {
namespace {

using heddle::testing::failing_allocations;

/// Random data, in which parts are shared.
class data_source {
public:
    data_source(heap& memory, std::uint64_t seed) : memory_(memory), random_(seed) {}

    value next(int depth) {
        const auto pick = below(depth > 0 ? 12 : 8);
        if (!earlier_.empty() && below(4) == 0) return earlier_[below(earlier_.size())];
        value fresh = pick < 8 ? atom(pick) : whole(pick, depth);
        earlier_.push_back(fresh);
        return fresh;
    }

private:
    std::size_t below(std::size_t n) { return random_() % n; }
    std::string text() {
        static constexpr const char* parts[] = {"a", "key ", "\n\"\\", "ä", "\U0001F600", "xyzxyz"};
        std::string built;
        for (std::size_t n = below(6); n != 0; --n) built += parts[below(6)];
        return built;
    }
    value atom(std::size_t pick) {
        switch (pick) {
        case 0: return {};
        case 1: return value::boolean(below(2) == 0);
        case 2: return value::integer(static_cast<std::int64_t>(below(400)) - 100);
        case 3: return value::integer(static_cast<std::int64_t>(random_()));
        case 4: return value::real(std::bit_cast<double>(random_()));
        case 5: return memory_.symbol("s" + text());
        default: return make_string(memory_, text());
        }
    }
    value whole(std::size_t pick, int depth) {
        if (pick == 8) {
            value map = value::empty_map();
            for (std::size_t n = below(6); n != 0; --n)
                map = map_put(memory_, map, make_string(memory_, text()), next(depth - 1));
            return map;
        }
        std::vector<value> items;
        for (std::size_t n = below(8); n != 0; --n) items.push_back(next(depth - 1));
        value list = make_list(memory_, items);
        if (pick != 9 || items.size() < 3) return list;
        earlier_.push_back(list);
        return list_slice(list, 1, 1 + below(items.size()));
    }

    heap& memory_;
    std::mt19937_64 random_;
    std::vector<value> earlier_;
};

class value_codec : public lang_fixture {
protected:
    value back(const std::string& bytes) {
        auto decoded = decode_answer(memory(), bytes);
        if (!decoded) {
            ADD_FAILURE() << decoded.error().message();
            return {};
        }
        return *std::move(decoded);
    }
    value round(const value& data) {
        const auto bytes = encode_value(data);
        if (!bytes) {
            ADD_FAILURE() << bytes.error().message();
            return {};
        }
        return back(*bytes);
    }
    error round(const error& failure) {
        auto decoded = decode_answer(memory(), encode_error(failure));
        EXPECT_FALSE(decoded);
        return decoded ? error(heddle::errc::internal, "a value") : decoded.error();
    }
    static error failure_with_all() {
        auto payload = std::make_shared<script_payload>();
        payload->reason = "subtask_failure";
        payload->data = value::integer(7);
        payload->uncatchable = true;
        return error(errc::task, "it broke")
            .with_hint("mend it")
            .with_trace("while mapping item 3")
            .with_trace("in task x")
            .with_origin(error_origin::server)
            .with_retry_after(std::chrono::milliseconds(1500))
            .with_retryable(true)
            .with_attempts(4)
            .with_payload(payload)
            .with_cause(error(heddle::errc::io_error, "inner").with_hint("look"));
    }
};

TEST_F(value_codec, keeps_each_kind_of_data) {
    for (const char* text : {"nil",
                             "true",
                             "false",
                             "0",
                             "191",
                             "192",
                             "-1",
                             "9223372036854775807",
                             "-9223372036854775808",
                             "1.5",
                             "-0.0",
                             "+nan.0",
                             "+inf.0",
                             "-inf.0",
                             "\"\"",
                             "\"äö\\n\"",
                             "sym",
                             "()",
                             "(1 (a \"b\") ())",
                             "(dict)",
                             "(dict \"b\" 1 \"a\" (dict \"\" nil))"}) {
        EXPECT_EQ(print_value(round(data(text))), print_value(data(text)));
    }
    EXPECT_TRUE(round(data("sym")).is(kind::symbol));
    for (const std::uint64_t bits : {0x7FF8000000000001ULL, 0xFFF0000000000123ULL, 1ULL << 63}) {
        const value got = round(value::real(std::bit_cast<double>(bits)));
        EXPECT_EQ(std::bit_cast<std::uint64_t>(got.as_real()), bits);
    }
}

TEST_F(value_codec, keeps_random_values) {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        data_source source(memory(), seed);
        std::vector<value> items;
        for (int i = 0; i < 6; ++i) items.push_back(source.next(4));
        const value whole = make_list(memory(), items);
        const value got = round(whole);
        ASSERT_EQ(print_value(got), print_value(whole)) << seed;
        const auto again = encode_value(whole);
        ASSERT_TRUE(again);
    }
}

TEST_F(value_codec, writes_what_is_shared_once) {
    value doubled = data("(1 2 \"a text of some length\")");
    for (int i = 0; i < 60; ++i)
        doubled = make_list(memory(), std::vector<value>{doubled, doubled});
    const auto bytes = encode_value(doubled);
    ASSERT_TRUE(bytes);
    EXPECT_LT(bytes->size(), 1000U);
    EXPECT_TRUE(values_equal(back(*bytes), doubled));

    value consed = data("(1)");
    for (int i = 0; i < 60; ++i) consed = list_push_front(memory(), consed, consed);
    EXPECT_TRUE(values_equal(round(consed), consed));

    std::vector<value> items(2000, value::integer(1000));
    const value list = make_list(memory(), items);
    std::vector<value> tails;
    for (std::size_t i = 0; i < 1500; ++i) tails.push_back(list_slice(list, i, 2000));
    const value all = make_list(memory(), tails);
    const auto windows = encode_value(all);
    ASSERT_TRUE(windows);
    EXPECT_LT(windows->size(), 20'000U);
    const std::size_t before = memory().used();
    const value got = back(*windows);
    EXPECT_LT(memory().used() - before, 200'000U);
    EXPECT_TRUE(values_equal(got, all));
}

TEST_F(value_codec, nests_to_any_depth) {
    value deep = value::integer(1);
    for (int i = 0; i < 1'000'000; ++i) deep = make_list(memory(), std::vector<value>{deep});
    const auto bytes = encode_value(deep);
    ASSERT_TRUE(bytes);
    EXPECT_TRUE(values_equal(back(*bytes), deep));
}

TEST_F(value_codec, names_what_is_no_data) {
    const value function = value::of_builtin(*find_builtin("length"));
    const value map = map_put(memory(), value::empty_map(), "key", function);
    const auto refused =
        encode_value(make_list(memory(), std::vector<value>{value::integer(1), map}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), errc::type);
    EXPECT_NE(refused.error().message().find("[1][\"key\"]"), std::string::npos)
        << refused.error().message();
    const auto large = encode_value(make_string(memory(), std::string(1000, 'x')), 500);
    ASSERT_FALSE(large);
    EXPECT_EQ(large.error().code(), errc::limit);
}

TEST_F(value_codec, keeps_errors) {
    const error before = failure_with_all();
    const error after = round(before);
    EXPECT_EQ(after.code(), before.code());
    EXPECT_EQ(error_kind_name(after), "TaskError");
    EXPECT_EQ(after.message(), "it broke");
    EXPECT_EQ(after.info().hint, "mend it");
    EXPECT_EQ(after.info().origin, error_origin::server);
    EXPECT_EQ(after.info().retry_after, std::chrono::milliseconds(1500));
    EXPECT_EQ(after.info().retryable, true);
    EXPECT_EQ(after.info().attempts, 4U);
    ASSERT_EQ(after.info().trace.size(), 2U);
    EXPECT_EQ(after.info().trace[1].what, "in task x");
    const auto* payload = dynamic_cast<const script_payload*>(after.info().payload.get());
    ASSERT_TRUE(payload);
    EXPECT_EQ(payload->reason, "subtask_failure");
    EXPECT_EQ(payload->data.as_integer(), 7);
    EXPECT_TRUE(payload->uncatchable);
    ASSERT_TRUE(after.info().cause);
    EXPECT_EQ(after.info().cause->code(), heddle::errc::io_error);
    EXPECT_EQ(after.info().cause->info().hint, "look");

    const error cancelled = round(error::cancelled(cancel_reason::budget, "spent"));
    EXPECT_EQ(cancelled.cancelled_because(), cancel_reason::budget);
    EXPECT_EQ(cancelled.message(), "spent");
}

TEST_F(value_codec, survives_damaged_bytes) {
    memory().set_limit(memory().used() + 64 * 1024 * 1024);
    std::vector<std::string> samples{encode_error(failure_with_all())};
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        data_source source(memory(), seed);
        samples.push_back(encode_value(source.next(4)).value());
    }
    for (const std::string& sample : samples) {
        for (std::size_t size = 0; size < sample.size(); ++size)
            EXPECT_FALSE(decode_answer(memory(), sample.substr(0, size)));
        for (std::size_t at = 0; at < sample.size(); ++at) {
            for (int bit = 0; bit < 8; ++bit) {
                std::string flipped = sample;
                flipped[at] = static_cast<char>(flipped[at] ^ 1 << bit);
                (void)decode_answer(memory(), flipped);
            }
        }
    }
    std::mt19937_64 random(1);
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes{1, round % 4 == 0 ? 'e' : 'v'};
        for (std::size_t n = random() % 60; n != 0; --n)
            bytes.push_back(static_cast<char>(random() % (round % 2 ? 256 : 28)));
        (void)decode_answer(memory(), bytes);
    }
}

TEST_F(value_codec, takes_no_more_memory_than_the_bytes_are_worth) {
    // Each list claims to have as many elements as there are bytes left.
    std::string bytes{1, 'v'};
    for (int i = 0; i < 50'000; ++i) bytes += "\x07\xff\x7f";
    bytes.append(20'000, '\0');
    const std::size_t before = memory().used();
    EXPECT_FALSE(decode_answer(memory(), bytes));
    EXPECT_EQ(memory().used(), before);

    const std::string large =
        encode_value(make_list(memory(), std::vector<value>(100'000))).value();
    memory().set_limit(memory().used() + 100'000);
    const auto refused = decode_answer(memory(), large);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), errc::limit);
}

TEST_F(value_codec, leaves_nothing_behind_without_memory) {
    data_source source(memory(), 5);
    std::vector<value> items;
    for (int i = 0; i < 5; ++i) items.push_back(source.next(3));
    const value whole = make_list(memory(), items);
    const std::string value_bytes = encode_value(whole).value();
    const std::string error_bytes = encode_error(failure_with_all());
    (void)back(value_bytes); // symbols are there from now on
    const std::size_t objects = memory().live_objects();
    std::uint64_t failures = 0;
    for (std::uint64_t n = 1; n < 2000; ++n) {
        failing_allocations::plan(n);
        try {
            const failing_allocations::scope fails(true);
            (void)encode_value(whole);
            (void)decode_answer(memory(), value_bytes);
            (void)decode_answer(memory(), error_bytes);
        } catch (const std::bad_alloc&) {}
        ASSERT_EQ(memory().live_objects(), objects) << n;
        if (failing_allocations::failed() == 0) break;
        failures += failing_allocations::failed();
    }
    failing_allocations::plan(0);
    EXPECT_GT(failures, 10U);
}

} // namespace
} // namespace heddle::lang
