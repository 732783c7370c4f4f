// Writing to a pipe that is not read, and what is reported of it.
#include "stream_writer.hpp"
#include "console.hpp"

#include <gtest/gtest.h>
#include <sanitizers.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <future>
#include <memory>

namespace heddle::cli {
namespace {

class pipe_pair {
public:
    pipe_pair() { EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0); }
    ~pipe_pair() {
        close_read();
        close_write();
    }
    pipe_pair(const pipe_pair&) = delete;
    pipe_pair& operator=(const pipe_pair&) = delete;

    [[nodiscard]] int write_end() const { return ends_[1]; }
    void close_read() { close(ends_[0]); }
    void close_write() { close(ends_[1]); }
    /// Of `size` bytes, or up to the end.
    [[nodiscard]] std::string read(std::size_t size) const {
        std::string text(size, '\0');
        std::size_t got = 0;
        while (got < size) {
            const ssize_t count = ::read(ends_[0], text.data() + got, size - got);
            if (count <= 0) break;
            got += static_cast<std::size_t>(count);
        }
        text.resize(got);
        return text;
    }

private:
    static void close(int& end) {
        if (end >= 0) ::close(end);
        end = -1;
    }
    std::array<int, 2> ends_{-1, -1};
};

/// What is reported, from any thread.
struct heard {
    std::atomic<int> lost{0};
    std::promise<void> room;
    std::atomic<bool> has_room{false};

    stream_writer::listeners listeners() {
        return {[this](int) { ++lost; },
                [this] {
                    if (!has_room.exchange(true)) room.set_value();
                }};
    }
};

std::string numbered_text(std::size_t least) {
    std::string text;
    for (std::size_t i = 0; text.size() < least; ++i) text += std::to_string(i) + "\n";
    return text;
}

TEST(stream_writer, keeps_the_order) {
    pipe_pair to;
    heard reported;
    stream_writer writer(reported.listeners());
    std::string expected;
    for (int i = 0; i < 1000; ++i) {
        const std::string text = std::to_string(i) + "\n";
        writer.write(to.write_end(), text);
        expected += text;
    }
    writer.drain();
    EXPECT_EQ(writer.waiting(), 0U);
    EXPECT_EQ(to.read(expected.size()), expected);
    EXPECT_EQ(reported.lost, 0);
}

TEST(stream_writer, does_not_wait_for_a_reader_and_reports_when_there_is_room_again) {
    pipe_pair to;
    heard reported;
    stream_writer writer(reported.listeners());
    const std::string text = numbered_text(4 * stream_writer::room);
    writer.write(to.write_end(), text);
    EXPECT_TRUE(writer.full());
    EXPECT_GT(writer.waiting(), stream_writer::room);
    EXPECT_FALSE(reported.has_room);
    EXPECT_TRUE(to.read(text.size()) == text);
    reported.room.get_future().wait();
    EXPECT_FALSE(writer.full());
    writer.drain();
    EXPECT_EQ(reported.lost, 0);
}

TEST(stream_writer, writes_in_turn_with_the_reader) {
    pipe_pair to;
    heard reported;
    stream_writer writer(reported.listeners());
    const std::string text = numbered_text(8 * stream_writer::room);
    auto reading = std::async(std::launch::async, [&] { return to.read(text.size()); });
    writer.write_in_turn(to.write_end(), text);
    EXPECT_LE(writer.waiting(), 2 * stream_writer::room);
    EXPECT_TRUE(reading.get() == text);
}

TEST(stream_writer, abandons_a_reader_who_never_reads) {
#ifdef HEDDLE_THREAD_SANITIZER
    GTEST_SKIP(); // it closes what an abandoned thread still writes to
#endif
    pipe_pair to;
    heard reported;
    {
        stream_writer writer(reported.listeners());
        writer.wait_at_most(std::chrono::milliseconds(100));
        writer.write(to.write_end(), std::string(stream_writer::room, 'x'));
        writer.drain();
        EXPECT_EQ(writer.waiting(), 0U);
        EXPECT_GT(reported.lost, 0);
        const int before = reported.lost;
        writer.write(to.write_end(), "more");
        EXPECT_GT(reported.lost, before);
    }
    to.close_read(); // lets its thread go
}

TEST(stream_writer, reports_when_the_reader_has_gone_and_goes_on_for_others) {
    pipe_pair gone;
    pipe_pair there;
    heard reported;
    gone.close_read();
    stream_writer writer(reported.listeners());
    writer.write(gone.write_end(), "lost");
    writer.write(there.write_end(), "here");
    writer.drain();
    EXPECT_EQ(reported.lost, 1);
    EXPECT_EQ(there.read(4), "here");
}

TEST(stream_writer, waits_for_a_descriptor_that_does_not_wait_itself) {
    pipe_pair to;
    heard reported;
    ASSERT_EQ(::fcntl(to.write_end(), F_SETFL, O_NONBLOCK), 0);
    stream_writer writer(reported.listeners());
    const std::string text = numbered_text(stream_writer::room / 2);
    writer.write(to.write_end(), text);
    EXPECT_TRUE(to.read(text.size()) == text);
    writer.drain();
    EXPECT_EQ(reported.lost, 0);
}

TEST(stream_writer, is_for_what_has_a_reader) {
    const pipe_pair pipe;
    EXPECT_TRUE(may_wait_for_reader(pipe.write_end()));
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), &std::fclose};
    EXPECT_FALSE(may_wait_for_reader(::fileno(file.get())));
    EXPECT_FALSE(may_wait_for_reader(-1));
    const pipe_pair other;
    const int again = ::dup(pipe.write_end());
    EXPECT_TRUE(lead_to_one_place(pipe.write_end(), again));
    EXPECT_FALSE(lead_to_one_place(pipe.write_end(), other.write_end()));
    ::close(again);
}

using file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

file file_of(const pipe_pair& pipe) {
    return {::fdopen(::dup(pipe.write_end()), "w"), &std::fclose};
}

TEST(console_pipes, both_streams_in_one_pipe_keep_their_order) {
    const pipe_pair to;
    const file out = file_of(to);
    const file err = file_of(to);
    console shown(out.get(), err.get(), {});
    std::string expected;
    for (int i = 0; i < 500; ++i) {
        const std::string number = std::to_string(i);
        shown.out("out " + number + "\n");
        shown.err("err " + number + "\n");
        expected += "out " + number + "\nerr " + number + "\n";
    }
    shown.out("last\n");
    EXPECT_TRUE(shown.flush());
    EXPECT_EQ(to.read(expected.size() + 5), expected + "last\n");
}

TEST(console_pipes, an_unread_one_is_full_and_leaves_the_other_alone) {
    const pipe_pair unread;
    const pipe_pair read;
    const file out = file_of(unread);
    const file err = file_of(read);
    console shown(out.get(), err.get(), {});
    std::promise<void> room;
    const std::string text = numbered_text(2 * stream_writer::room);
    {
        const console::loop_time looping(shown);
        shown.out_data(text);
        EXPECT_TRUE(shown.is_full(console::stream::out));
        EXPECT_FALSE(shown.is_full(console::stream::err));
        shown.on_room(console::stream::out, [&room] { room.set_value(); });
        shown.err("an error\n");
        EXPECT_EQ(read.read(9), "an error\n");
    }
    EXPECT_TRUE(unread.read(text.size()) == text);
    room.get_future().wait();
    shown.on_room(console::stream::out, nullptr);
    EXPECT_TRUE(shown.flush());
    EXPECT_FALSE(shown.is_full(console::stream::out));
}

TEST(console_pipes, a_log_that_nobody_reads_stays_bounded_and_reports_what_it_lacks) {
    pipe_pair to;
    const file out(std::tmpfile(), &std::fclose);
    file err = file_of(to);
    to.close_write(); // that of the file is the only one
    const std::string line = std::string(999, 'x') + "\n";
    constexpr std::size_t lines = 20'000; // 20 MB
    std::future<std::string> reading;
    {
        console shown(out.get(), err.get(), {});
        {
            const console::loop_time looping(shown);
            for (std::size_t i = 0; i < lines; ++i) shown.err_log(line);
        }
        reading = std::async(std::launch::async, [&] { return to.read(lines * line.size()); });
        EXPECT_TRUE(shown.flush());
    }
    err.reset();
    const std::string seen = reading.get();
    EXPECT_GT(seen.size(), 8 * stream_writer::room);
    EXPECT_LT(seen.size(), 9 * stream_writer::room);
    EXPECT_NE(seen.find(" lines of the log were dropped: nobody read them\n"), std::string::npos);
}

TEST(console_pipes, a_reader_who_never_reads_is_given_up_when_asked_for) {
#ifdef HEDDLE_THREAD_SANITIZER
    GTEST_SKIP(); // it closes what an abandoned thread still writes to
#endif
    pipe_pair to;
    const file err(std::tmpfile(), &std::fclose);
    std::atomic<int> reported{0};
    {
        const file out = file_of(to);
        console shown(out.get(), err.get(), {});
        shown.on_output_lost([&reported] { ++reported; });
        {
            const console::loop_time looping(shown);
            shown.out_data(std::string(stream_writer::room, 'x'));
        }
        shown.wait_at_most(std::chrono::milliseconds(100));
        EXPECT_FALSE(shown.flush());
        EXPECT_TRUE(shown.output_lost());
    }
    EXPECT_EQ(reported, 1);
}

TEST(console_pipes, a_reader_who_has_gone_is_reported_once) {
    pipe_pair to;
    to.close_read();
    const file out = file_of(to);
    const file err(std::tmpfile(), &std::fclose);
    std::atomic<int> reported{0};
    console shown(out.get(), err.get(), {});
    shown.on_output_lost([&reported] { ++reported; });
    for (int i = 0; i < 3; ++i) {
        shown.out("a line\n");
        EXPECT_FALSE(shown.flush());
    }
    EXPECT_EQ(reported, 1);
}

} // namespace
} // namespace heddle::cli
