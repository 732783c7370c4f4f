#include "rows_fixture.hpp"

#include "store/sqlite_database.hpp"

#include <heddle/rows/dead_letters.hpp>
#include <heddle/rows/result_writer.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace heddle::rows {
namespace {

row_result done(std::uint64_t number, std::string value) {
    row_result one;
    one.id = "r" + std::to_string(number);
    one.end.row = number;
    one.end.value_json = std::move(value);
    one.end.duration_ms = 12;
    one.end.spent.requests = 1;
    one.end.spent.input_tokens = 7;
    one.end.spent.output_tokens = 4;
    one.end.spent.cost_usd = 2.2199999999999993E-3;
    return one;
}

class result_writing : public rows_fixture {
protected:
    [[nodiscard]] auto open(const std::string& name, output_start start = output_start::fresh,
                            std::uint64_t size = 0, bool force = false) const {
        result_output output;
        output.target = {path(name), start, size, force};
        return result_writer::open(output);
    }
    static result<void> write(result_writer& to, const row_result& one) {
        return to.write(std::span(&one, 1));
    }
    static constexpr const char* first_line =
        "{\"id\":\"r1\",\"row\":1,\"status\":\"done\",\"value\":{\"a\": 1},\"usage\":{"
        "\"requests\":1,\"input_tokens\":7,\"output_tokens\":4},\"cost_usd\":0.00222,"
        "\"attempts\":1,\"duration_ms\":12}\n";
};

TEST_F(result_writing, jsonl_has_a_line_for_each_result) {
    auto to = open("a.jsonl").value();
    row_result failed = done(2, "");
    failed.id = "x\"\n";
    failed.end.status = ports::row_status::failed;
    failed.end.error_json = R"({"kind":"HttpError","message":"no"})";
    failed.end.maybe_paid = true;
    failed.end.spent = {};
    failed.end.spent.requests = failed.end.spent.unpriced = 1;
    failed.end.spent.estimated = true;
    const std::array batch{done(1, "{\"a\":\n1}"), failed};
    ASSERT_TRUE(to->write(batch));
    ASSERT_TRUE(to->flush());
    EXPECT_EQ(get("a.jsonl"),
              std::string(first_line) +
                  R"({"id":"x\"\n","row":2,"status":"failed","error":{"kind":"HttpError",)"
                  R"("message":"no"},"usage":{"requests":1,"input_tokens":0,"output_tokens":0,)"
                  R"("estimated":true},"cost_usd":null,"unpriced_requests":1,"attempts":1,)"
                  R"("duration_ms":12,"maybe_paid":true})"
                  "\n");
    EXPECT_EQ(to->size(), get("a.jsonl").size());
}

TEST_F(result_writing, costs_are_written_as_people_do) {
    const auto text = [](double cost) {
        std::string out;
        append_usd(out, cost);
        return out;
    };
    EXPECT_EQ(text(2.2199999999999993E-3), "0.00222");
    EXPECT_EQ(text(0), "0");
    EXPECT_EQ(text(-0.0), "0");
    EXPECT_EQ(text(5.190361494569423E-1), "0.5190361495");
    EXPECT_EQ(text(1e-7), "0.0000001");
    EXPECT_EQ(text(120), "120");
    EXPECT_EQ(text(1e22), "10000000000000000000000");
}

TEST_F(result_writing, csv_has_columns_for_members) {
    result_output output;
    output.target.file = path("a.csv");
    output.columns = {"label", "score"};
    const std::string header =
        "id,row,status,value,label,score,error,requests,input_tokens,"
        "output_tokens,cost_usd,attempts,duration_ms,maybe_paid\n";
    {
        auto to = result_writer::open(output).value();
        row_result failed = done(2, "");
        failed.end.status = ports::row_status::failed;
        failed.end.error_json = R"({"kind":"HttpError","message":"no, \"x\""})";
        const std::array batch{done(1, R"({"label":"a,b","score":0.5})"), failed,
                               done(3, R"("two\nlines")")};
        ASSERT_TRUE(to->write(batch));
        EXPECT_EQ(
            get("a.csv"),
            header +
                "r1,1,done,\"{\"\"label\"\":\"\"a,b\"\",\"\"score\"\":0.5}\",\"a,b\",0.5,,1,7,"
                "4,0.00222,1,12,false\n"
                "r2,2,failed,,,,\"HttpError: no, \"\"x\"\"\",1,7,4,0.00222,1,12,false\n"
                "r3,3,done,\"two\nlines\",,,,1,7,4,0.00222,1,12,false\n");
        output.target.start = output_start::at_size;
        output.target.size = to->size();
    }
    ASSERT_TRUE(result_writer::open(output));
    output.columns = {"label"};
    const auto other = result_writer::open(output);
    ASSERT_FALSE(other);
    EXPECT_NE(other.error().message().find("does not begin"), std::string::npos);
}

TEST_F(result_writing, what_exists_is_not_overwritten) {
    put("a.jsonl", "mine\n");
    EXPECT_FALSE(open("a.jsonl"));
    EXPECT_FALSE(open("a.jsonl", output_start::at_size, 0));
    EXPECT_FALSE(open("a.jsonl", output_start::after_last_line));
    EXPECT_EQ(get("a.jsonl"), "mine\n");
    ASSERT_TRUE(open("a.jsonl", output_start::fresh, 0, true));
    EXPECT_EQ(get("a.jsonl"), "");
    EXPECT_FALSE(open("none/a.jsonl"));
    EXPECT_FALSE(open("a.unknown"));
    std::filesystem::create_directory(path("b.jsonl"));
    EXPECT_FALSE(open("b.jsonl"));
}

/// A crash at any byte of the second batch: the same file in the end.
TEST_F(result_writing, a_run_goes_on_at_every_size_that_a_crash_left) {
    std::uint64_t noted = 0;
    {
        auto to = open("a.jsonl").value();
        ASSERT_TRUE(write(*to, done(1, "{\"a\":\n1}")));
        ASSERT_TRUE(to->flush());
        noted = to->size();
        ASSERT_TRUE(write(*to, done(2, "2")));
    }
    const std::string whole = get("a.jsonl");
    for (std::size_t size = noted; size <= whole.size(); ++size) {
        put("b.jsonl", whole.substr(0, size));
        {
            auto to = open("b.jsonl", output_start::at_size, noted);
            ASSERT_TRUE(to) << to.error().message();
            EXPECT_EQ(get("b.jsonl"), first_line);
            ASSERT_TRUE(write(**to, done(2, "2")));
        }
        EXPECT_EQ(get("b.jsonl"), whole);
        put("c.jsonl", whole.substr(0, size));
        ASSERT_TRUE(open("c.jsonl", output_start::after_last_line));
        EXPECT_EQ(get("c.jsonl"), size == whole.size() ? whole : first_line);
    }
    for (std::size_t size = 0; size < noted; ++size) {
        put("b.jsonl", whole.substr(0, size));
        EXPECT_FALSE(open("b.jsonl", output_start::at_size, noted)) << size;
        EXPECT_EQ(get("b.jsonl"), whole.substr(0, size));
    }
    put("b.jsonl", whole);
    EXPECT_FALSE(open("b.jsonl", output_start::at_size, noted - 1)); // no line ends there
}

TEST_F(result_writing, one_process_writes_a_file) {
    const auto first = open("a.jsonl").value();
    const auto second = open("a.jsonl");
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message().find("another process writes"), std::string::npos);
}

TEST_F(result_writing, a_full_device_is_reported) {
    result_output output;
    output.target.file = "/dev/full";
    auto to = result_writer::open(output).value();
    const auto failed = write(*to, done(1, "1"));
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().info().hint.find("the disk is full"), std::string::npos);
    EXPECT_FALSE(to->flush());
}

TEST_F(result_writing, a_batch_that_does_not_fit_leaves_what_was_there) {
    const auto before = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limits{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limits), 0);
    auto to = open("a.jsonl").value();
    ASSERT_TRUE(write(*to, done(1, "{\"a\":\n1}")));
    rlimit small = limits;
    small.rlim_cur = to->size() + 100; // in the middle of the next line
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto failed = write(*to, done(2, "2"));
    const auto again = write(*to, done(3, "3"));
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limits), 0);
    std::signal(SIGXFSZ, before);
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().info().hint.find("ulimit"), std::string::npos);
    EXPECT_FALSE(again);
    EXPECT_EQ(get("a.jsonl"), first_line);
}

TEST_F(result_writing, outputs_that_vanish_or_change_are_noticed) {
    auto to = open("a.jsonl").value();
    ASSERT_TRUE(write(*to, done(1, "1")));
    std::filesystem::remove(path("a.jsonl"));
    const auto gone = to->flush();
    ASSERT_FALSE(gone);
    EXPECT_NE(gone.error().message().find("deleted"), std::string::npos);
    EXPECT_FALSE(write(*to, done(2, "2")));
    auto other = open("b.jsonl").value();
    ASSERT_TRUE(write(*other, done(1, "1")));
    put("b.jsonl", "");
    EXPECT_FALSE(other->flush());
}

TEST_F(result_writing, read_only_files_are_reported) {
    put("a.jsonl", "");
    std::filesystem::permissions(path("a.jsonl"), std::filesystem::perms::owner_read);
    std::filesystem::permissions(folder, std::filesystem::perms::others_exec,
                                 std::filesystem::perm_options::add);
    const bool root = ::geteuid() == 0; // whom permissions do not hold back
    ASSERT_EQ(root ? ::seteuid(65534) : 0, 0);
    const auto refused = open("a.jsonl");
    ASSERT_EQ(root ? ::seteuid(0) : 0, 0);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().info().hint.find("must be writable"), std::string::npos);
}

TEST_F(result_writing, standard_output_that_is_closed_is_an_error) {
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    result_output output;
    output.target.file = "-";
    output.target.standard_output = ends[1];
    auto to = result_writer::open(output).value();
    ASSERT_TRUE(write(*to, done(1, "{\"a\":\n1}")));
    std::string got(1000, '\0');
    got.resize(static_cast<std::size_t>(::read(ends[0], got.data(), got.size())));
    EXPECT_EQ(got, first_line);
    ::close(ends[0]);
    const auto failed = write(*to, done(2, "2"));
    ::close(ends[1]);
    std::signal(SIGPIPE, before);
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().info().hint.find("has ended"), std::string::npos);
}

TEST_F(result_writing, a_table_keeps_the_last_result_of_an_id) {
    {
        auto to = open("a.sqlite").value();
        const std::array batch{done(1, "1"), done(2, "2"), done(1, "\"again\"")};
        ASSERT_TRUE(to->write(batch));
        ASSERT_TRUE(to->flush());
        EXPECT_EQ(to->size(), 2U);
    }
    EXPECT_FALSE(open("a.sqlite"));
    {
        auto to = open("a.sqlite", output_start::at_size, 2);
        ASSERT_TRUE(to) << to.error().message();
        ASSERT_TRUE(write(**to, done(3, "3")));
        EXPECT_EQ((*to)->size(), 3U);
    }
    EXPECT_FALSE(open("a.sqlite", output_start::at_size, 4));
    EXPECT_FALSE(open("none.sqlite", output_start::at_size, 4));
    auto database = store::sqlite_database::open(path("a.sqlite")).value();
    auto asked = database
                     .prepare(
                         "SELECT value || '|' || cost_usd || '|' || typeof(cost_usd) || "
                         "'|' || (error IS NULL) FROM results WHERE id = 'r1'")
                     .value();
    ASSERT_TRUE(asked.step().value());
    EXPECT_EQ(asked.bytes(0), "\"again\"|0.00222|real|1");
    put("text.sqlite", "this is a text of somebody, and long enough not to be a database at all");
    EXPECT_FALSE(open("text.sqlite", output_start::fresh, 0, true));
    EXPECT_EQ(get("text.sqlite").substr(0, 4), "this");
    auto foreign = store::sqlite_database::open(path("b.sqlite")).value();
    ASSERT_TRUE(foreign.run("CREATE TABLE results (x)"));
    const auto refused = open("b.sqlite", output_start::fresh, 0, true);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("a database of something else"), std::string::npos);
}

TEST_F(result_writing, a_table_has_one_writer_at_a_time) {
    const auto first = open("a.sqlite").value();
    const auto second = open("a.sqlite");
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message().find("another process writes"), std::string::npos);
    ASSERT_TRUE(write(*first, done(1, "1")));
    EXPECT_EQ(first->size(), 1U);
}

TEST_F(result_writing, a_table_belongs_to_a_run) {
    result_output output;
    output.target.file = path("a.sqlite");
    output.target.run = "one";
    ASSERT_TRUE(write(*result_writer::open(output).value(), done(1, "1")));
    result_output other = output;
    other.target.run = "two";
    other.target.start = output_start::at_size;
    const auto refused = result_writer::open(other);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("of another run"), std::string::npos);
    output.target.start = output_start::at_size;
    output.target.size = 1;
    EXPECT_TRUE(result_writer::open(output));
    other.target.start = output_start::fresh;
    other.target.force = true;
    ASSERT_TRUE(write(*result_writer::open(other).value(), done(1, "1")));
    EXPECT_FALSE(result_writer::open(output)) << "it was replaced";
}

// Errors stayed in the table when a later command of the run left them out.
TEST_F(result_writing, a_table_is_emptied_for_results_that_are_all_written_again) {
    result_output output;
    output.target.file = path("a.sqlite");
    output.target.run = "one";
    ASSERT_TRUE(write(*result_writer::open(output).value(), done(1, "1")));
    output.target.start = output_start::at_size;
    result_output other = output;
    other.target.run = "two";
    EXPECT_FALSE(result_writer::open(other));
    output.target.size = 1;
    EXPECT_EQ(result_writer::open(output).value()->size(), 1U);
    output.target.size = 0;
    const auto to = result_writer::open(output).value();
    EXPECT_EQ(to->size(), 0U);
    ASSERT_TRUE(write(*to, done(2, "2")));
    EXPECT_EQ(to->size(), 1U);
}

TEST_F(result_writing, a_row_without_a_value_replaces_none_that_has_one) {
    auto to = open("a.sqlite").value();
    row_result rejected = done(1, "");
    rejected.end.status = ports::row_status::rejected;
    rejected.end.error_json = "{}";
    const std::array batch{done(1, "1"), rejected, rejected};
    ASSERT_TRUE(to->write(batch));
    auto database = store::sqlite_database::open(path("a.sqlite")).value();
    auto asked = database.prepare("SELECT status || value FROM results").value();
    ASSERT_TRUE(asked.step().value());
    EXPECT_EQ(asked.bytes(0), "done1");
}

// A duplicate of a row that had failed replaced it, with the error that an earlier row has the id.
TEST_F(result_writing, a_row_without_a_value_replaces_none_of_an_earlier_row) {
    const auto without_value = [](std::uint64_t number, ports::row_status status) {
        row_result one = done(number, "");
        one.id = "same";
        one.end.status = status;
        one.end.error_json = "{}";
        return one;
    };
    const row_result failed = without_value(3, ports::row_status::failed);
    const row_result duplicate = without_value(5, ports::row_status::rejected);
    const auto last_of = [&](std::span<const row_result> batch) {
        auto to = open("a.sqlite", output_start::fresh, 0, true).value();
        EXPECT_TRUE(to->keeps_one_per_id());
        EXPECT_TRUE(to->write(batch));
        EXPECT_EQ(to->size(), 1U);
        auto database = store::sqlite_database::open(path("a.sqlite")).value();
        auto asked = database.prepare("SELECT row || status FROM results").value();
        EXPECT_TRUE(asked.step().value());
        return std::string(asked.bytes(0));
    };
    EXPECT_EQ(last_of(std::array{failed, duplicate}), "3failed");
    EXPECT_EQ(last_of(std::array{duplicate, failed}), "3failed"); // it took longer
    row_result retried = done(3, "1");
    retried.id = "same";
    EXPECT_EQ(last_of(std::array{failed, duplicate, retried}), "3done");
    EXPECT_EQ(last_of(std::array{without_value(3, ports::row_status::rejected), failed}),
              "3failed");
    // Of an edited file, where the row is elsewhere now.
    EXPECT_EQ(last_of(std::array{without_value(0, ports::row_status::rejected), failed}),
              "3failed");
}

TEST_F(result_writing, a_header_alone_is_no_result) {
    result_output output;
    output.target.file = path("a.csv");
    ASSERT_TRUE(result_writer::open(output)); // and the process was killed
    const std::string header = get("a.csv");
    EXPECT_TRUE(result_writer::open(output));
    EXPECT_EQ(get("a.csv"), header);
    put("a.csv", header + "x");
    EXPECT_FALSE(result_writer::open(output));
}

TEST_F(result_writing, a_pipe_without_readers_is_an_error) {
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    EXPECT_FALSE(open("pipe")) << "nobody reads it";
    const int reader = ::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    auto to = open("pipe");
    ASSERT_TRUE(to) << to.error().message();
    ASSERT_TRUE(write(**to, done(1, "1")));
    ::close(reader);
    const auto failed = write(**to, done(2, "2"));
    std::signal(SIGPIPE, before);
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().info().hint.find("has ended"), std::string::npos);
}

/// A pipe whose reader stays.
class interrupted_pipe : public rows_fixture {
protected:
    interrupted_pipe() {
        EXPECT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
        reader_ = ::open(path("pipe").c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    }
    ~interrupted_pipe() override { ::close(reader_); }

    [[nodiscard]] std::string arrived() const {
        std::string text(65'536, '\0');
        const ssize_t count = ::read(reader_, text.data(), text.size());
        text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
        return text;
    }
    [[nodiscard]] auto open(result_format format, const std::string& broken_stream = "",
                            std::uint64_t size = 1) const {
        result_output output;
        output.target.file = path("pipe");
        output.target.start = output_start::at_size;
        output.target.size = size; // something was written before
        output.target.broken_stream = broken_stream;
        output.format = format;
        return result_writer::open(output).value();
    }
    [[nodiscard]] std::string stream() const { return open(result_format::jsonl)->stream(); }

private:
    int reader_ = -1;
};

// The first line of the next process was glued to it.
TEST_F(interrupted_pipe, has_the_line_that_was_broken_ended) {
    EXPECT_EQ(stream(), open(result_format::tsv)->stream());
    EXPECT_NE(stream(), "");
    EXPECT_EQ(arrived(), "");
    const auto one = done(1, "1");
    ASSERT_TRUE(open(result_format::jsonl, stream())->write({&one, 1}));
    EXPECT_TRUE(arrived().starts_with("\n{\"id\":\"r1\""));
    ASSERT_TRUE(open(result_format::jsonl, stream() + "1")->write({&one, 1}));
    EXPECT_TRUE(arrived().starts_with("{\"id\":\"r1\"")) << "that was another pipe";
    EXPECT_EQ(open(result_format::jsonl, stream())->stream(), stream());
    EXPECT_EQ(arrived(), "") << "nothing is written that may have to wait";
    ASSERT_TRUE(open(result_format::csv, stream(), 0)->write({&one, 1}));
    EXPECT_NE(arrived().find(",maybe_paid\ninterrupted\"\nr1,"), std::string::npos)
        << "for a new reader";
}

// A record whose end is missing took the next one into its quotes, or its cells.
TEST_F(interrupted_pipe, has_broken_records_that_can_be_recognised) {
    row_result cells = done(1, R"("a \"b\", c")");
    cells.id = "x,\"y\"\n,\"";
    auto before = open(result_format::csv);
    ASSERT_TRUE(before->write({&cells, 1}));
    const std::string record = arrived();
    const auto whole = done(2, "2");
    for (std::size_t size = 0; size <= record.size(); ++size) {
        ASSERT_TRUE(open(result_format::csv, stream())->write({&whole, 1}));
        const auto all =
            read_file("a.csv",
                      "id,row,status,value,error,requests,input_tokens,output_tokens,cost_usd,"
                      "attempts,duration_ms,maybe_paid\n" +
                          record.substr(0, size) + arrived());
        EXPECT_EQ(all.failure, "");
        std::size_t whole_ones = 0;
        for (const std::string& row : all.rows)
            whole_ones += row.ends_with(R"("maybe_paid":"false"})") ? 1U : 0U;
        EXPECT_EQ(whole_ones, size == record.size() ? 2U : 1U) << size;
        EXPECT_TRUE(all.rows.back().starts_with(R"({"id":"r2",)")) << all.rows.back();
    }
}

TEST_F(result_writing, dead_letters_hold_the_row_or_its_bytes) {
    const auto bad = read_file("in.jsonl", "{\"a\":\xFF}\n");
    dead_letter failed;
    failed.number = 5;
    failed.id = "k";
    failed.file = "in.jsonl";
    failed.line = 6;
    failed.error_json = R"({"kind":"HttpError"})";
    failed.row_json = R"({"a":1})";
    auto unreadable = dead_letter_of(std::get<bad_row>(bad.items.at(0)));
    unreadable.id = "0:1";
    unreadable.file = "in.jsonl";
    unreadable.error_json = "{}";
    auto to = dead_letter_writer::open({path("dead.jsonl"), output_start::after_last_line}).value();
    const std::array batch{failed, unreadable};
    ASSERT_TRUE(to->write(batch));
    ASSERT_TRUE(to->flush());
    EXPECT_EQ(get("dead.jsonl"),
              R"({"id":"k","row":5,"file":"in.jsonl","line":6,"error":{"kind":"HttpError"},)"
              R"("input":{"a":1}})"
              "\n"
              R"({"id":"0:1","row":0,"file":"in.jsonl","line":1,"error":{},"raw":"{\"a\":)"
              "\xEF\xBF\xBD"
              R"(}"})"
              "\n");
    EXPECT_EQ(to->size(), get("dead.jsonl").size());
}

} // namespace
} // namespace heddle::rows
