// What a host hands over may be any bytes: names of files, variables, texts of the system. Strings
// of the language are UTF-8 whatever comes.
#include "evaluation.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/ports/file_port.hpp>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

namespace heddle::host {
namespace {

const std::string r(utf8::replacement);

/// Beginnings of characters, ends of them, surrogates, bytes that no text has.
const std::vector<std::string> odd_bytes{"a\xF0",        "a\xF0\x9F\xA7", "\xE2\x82", "\x80\x80z",
                                         "\xED\xA0\x80", "b\xFF/",        "\xC0\xAF", "ok"};

/// A port that keeps no promise about its texts.
class odd_files final : public ports::file_port {
public:
    coro::task<result<std::string>> read(std::string path, coro::call_context) override {
        if (path == "refused") co_return error(errc::io_error, "cannot read \"\xF0\x9F\"");
        co_return odd_bytes[0];
    }
    coro::task<result<void>> write(std::string, std::string, coro::call_context) override {
        co_return result<void>();
    }
    coro::task<result<bool>> exists(std::string, coro::call_context) override { co_return true; }
    coro::task<result<std::vector<std::string>>> list(std::string, coro::call_context) override {
        co_return odd_bytes;
    }
};

class host_bytes : public ::testing::Test {
protected:
    host_bytes() {
        engine_parts parts;
        parts.print = [this](std::string_view text) { printed_ += text; };
        parts.files = &files_;
        parts.readable_environment = {"HEDDLE_TEST_ODD"};
        engine_ = std::make_unique<engine>(loop_, std::move(parts));
        session_ = *engine_->new_session();
    }

    result<lang::value> value_of(const std::string& text) {
        evaluation_end ended = evaluate_to_the_end(context_, loop_, *session_, text);
        EXPECT_TRUE(ended);
        return ended ? *std::move(ended) : result<lang::value>(error(errc::internal, "not ended"));
    }
    std::string run(const std::string& text) {
        const auto ended = value_of(text);
        std::string shown = ended ? lang::print_value(*ended) : ended.error().message();
        EXPECT_TRUE(utf8::is_valid(shown)) << text;
        return shown;
    }

    boost::asio::io_context context_{1};
    coro::event_loop loop_{context_};
    odd_files files_;
    std::string printed_;
    std::unique_ptr<engine> engine_;
    std::unique_ptr<session> session_;
};

TEST_F(host_bytes, names_of_files_are_strings) {
    EXPECT_EQ(run("(list-directory \".\")"), "(\"a" + r + "\" \"a" + r + "\" \"" + r + "\" \"" + r +
                                                 r + "z\" \"" + r + r + r + "\" \"b" + r +
                                                 "/\" \"" + r + r + "\" \"ok\")");
}

/// A builtin that trusted the bytes read past their end, and put what it found into its result.
TEST_F(host_bytes, no_builtin_reads_past_a_name) {
    EXPECT_EQ(run("(map string-upcase (list-directory \".\"))"),
              "(\"A" + r + "\" \"A" + r + "\" \"" + r + "\" \"" + r + r + "Z\" \"" + r + r + r +
                  "\" \"B" + r + "/\" \"" + r + r + "\" \"OK\")");
    EXPECT_EQ(run("(map string-length (list-directory \".\"))"), "(2 2 1 3 3 3 2 2)");
    EXPECT_EQ(run("(map (lambda (n) (substring n 0 1)) (list-directory \".\"))"),
              "(\"a\" \"a\" \"" + r + "\" \"" + r + "\" \"" + r + "\" \"b\" \"" + r + "\" \"o\")");
    for (const std::string call :
         {"(string-downcase n)", "(string-trim n)", "(string-split n \"\")", "(json-string n)",
          "(string->symbol n)", "(format \"{}-{}\" n n)", "(regex-match-all \".\" n)",
          "(string-append n n)", "(dict n 1)"}) {
        run("(map (lambda (n) " + call + ") (list-directory \".\"))");
    }
}

TEST_F(host_bytes, a_variable_is_a_string) {
    ::setenv("HEDDLE_TEST_ODD", "caf\xE9 \xF0\x9F\xA7", 1);
    EXPECT_EQ(run("(getenv \"HEDDLE_TEST_ODD\")"), "\"caf" + r + " " + r + "\"");
}

TEST_F(host_bytes, a_port_that_reads_no_text_makes_no_bad_string) {
    EXPECT_EQ(run("(read-file \"x\")"), "\"a" + r + "\"");
}

TEST_F(host_bytes, messages_of_the_system_are_text) {
    EXPECT_NE(run("(read-file \"refused\")").find("cannot read \"" + r + "\""), std::string::npos);
    EXPECT_NE(run("(try (read-file \"refused\") (catch (e) e))").find("cannot read \\\"" + r),
              std::string::npos);
}

TEST_F(host_bytes, source_that_is_no_text_is_a_syntax_error) {
    EXPECT_NE(run("(list \"a\xF0\")").find("invalid UTF-8 at byte offset 8"), std::string::npos);
}

TEST_F(host_bytes, values_that_a_host_makes_are_text) {
    lang::heap& memory = session_->memory();
    EXPECT_EQ(lang::string_bytes(lang::make_string(memory, "x\xF0")), "x" + r);
    EXPECT_EQ(lang::symbol_name(memory.symbol("s\xFF")), "s" + r);
    const lang::value map =
        lang::map_put(memory, lang::value::empty_map(), "k\xC3", lang::value::integer(1));
    EXPECT_EQ(lang::print_value(map), "(dict \"k" + r + "\" 1)");
    session_->define("given", lang::make_string(memory, "\xE2\x82"));
    EXPECT_EQ(run("given"), "\"" + r + "\"");
}

} // namespace
} // namespace heddle::host
