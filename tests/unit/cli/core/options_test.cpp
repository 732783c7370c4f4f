#include "command_line/command_line.hpp"
#include "command_line/workflow_option_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A command with what most commands have.
class tried final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("FILE", file, "A file").required();
        to.option("-i,--input", inputs, "An input; repeatable").value("NAME=VALUE");
        reader_.add_to(to, options);
        last = this;
    }
    std::optional<std::string> mistake() override { return reader_.finish(options); }
    exit_code run(command_context) override { return exit_code::done; }

    std::string file;
    std::vector<std::string> inputs;
    workflow_options options;
    static inline tried* last = nullptr;

private:
    workflow_option_reader reader_;
};

constexpr command_row tried_row{
    .name = "run", .summary = "Try options", .details = {}, .make = &make_command<tried>};
constexpr const command_row* tried_rows[] = {&tried_row};

/// A command with an option that takes several words.
class listing final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("FILE", file, "A file").required();
        to.values("--rows", rows, "Files").value("FILE");
        to.option("-o,--out", out, "A file").value("FILE");
        to.flag("-q,--quiet", quiet, "Print less");
        last = this;
    }
    std::optional<std::string> mistake() override { return std::nullopt; }
    exit_code run(command_context) override { return exit_code::done; }

    std::string file;
    std::vector<std::string> rows;
    std::string out;
    bool quiet = false;
    static inline listing* last = nullptr;
};

constexpr command_row listing_row{
    .name = "list", .summary = "Try lists", .details = {}, .make = &make_command<listing>};
constexpr const command_row* listing_rows[] = {&listing_row};

class parsed {
public:
    explicit parsed(std::vector<std::string> arguments) : line_(tried_rows) {
        arguments.insert(arguments.begin(), "run");
        const auto result = line_.parse(std::move(arguments), 100);
        const auto* end = std::get_if<early_end>(&result);
        EXPECT_EQ(end, nullptr) << (end ? end->text : "");
    }
    const tried* operator->() const { return tried::last; }

private:
    command_line line_;
};

early_end ended(std::vector<std::string> arguments, unsigned columns = 100) {
    command_line line(all_commands());
    const auto parsed = line.parse(std::move(arguments), columns);
    EXPECT_TRUE(std::holds_alternative<early_end>(parsed));
    return std::holds_alternative<early_end>(parsed) ? std::get<early_end>(parsed) : early_end{};
}

TEST(options, run_reads_everything) {
    const parsed result({"w.heddle", "--input", "a=1", "-i", "b:=[1,2]", "--model", "openai:m",
                         "--base-url", "http://h/v1", "--concurrency", "7", "--timeout", "1.5",
                         "--json", "-vv", "--seed", "9", "--workspace", "dir"});
    EXPECT_EQ(result->file, "w.heddle");
    EXPECT_EQ(result->inputs, (std::vector<std::string>{"a=1", "b:=[1,2]"}));
    EXPECT_EQ(result->options.model, "openai:m");
    EXPECT_EQ(result->options.base_url, "http://h/v1");
    EXPECT_EQ(result->options.concurrency, 7U);
    EXPECT_EQ(result->options.timeout, std::chrono::milliseconds(1500));
    EXPECT_TRUE(result->options.json);
    EXPECT_EQ(result->options.verbosity, 2);
    EXPECT_EQ(result->options.seed, 9U);
    EXPECT_EQ(result->options.workspace, "dir");
}

TEST(options, have_defaults) {
    const parsed result({"w.heddle"});
    EXPECT_FALSE(result->options.model);
    EXPECT_FALSE(result->options.timeout);
    EXPECT_FALSE(result->options.concurrency);
    EXPECT_EQ(result->options.verbosity, 0);
    EXPECT_EQ(result->options.workspace, ".");
}

TEST(options, an_input_does_not_swallow_the_file_behind_it) {
    const parsed result({"-i", "a=1", "w.heddle"});
    EXPECT_EQ(result->file, "w.heddle");
    EXPECT_EQ(result->inputs.size(), 1U);
}

// A pattern of the shell was an unexpected argument.
TEST(options, several_values_may_follow_one_option) {
    const auto read = [](std::vector<std::string> arguments) {
        command_line line(listing_rows);
        arguments.insert(arguments.begin(), "list");
        const auto result = line.parse(std::move(arguments), 100);
        const auto* end = std::get_if<early_end>(&result);
        if (end) return end->mistake;
        std::string text = listing::last->file + ":";
        for (const std::string& each : listing::last->rows) text += " " + each;
        return text;
    };
    EXPECT_EQ(read({"w", "--rows", "a"}), "w: a");
    EXPECT_EQ(read({"w", "--rows", "a", "b", "-", "-o", "x"}), "w: a b -");
    EXPECT_EQ(read({"w", "--rows", "a", "b", "--rows=c", "d"}), "w: a b c d");
    // The workflow may come later.
    EXPECT_EQ(read({"--rows", "a", "w"}), "w: a");
    EXPECT_EQ(read({"--rows", "a", "w", "-o", "x"}), "w: a");
    EXPECT_EQ(read({"--rows", "a", "b", "w", "--rows", "c"}), "w: a b c");
    EXPECT_EQ(read({"--rows", "a", "b", "-o", "x", "w"}), "w: a b");
    EXPECT_EQ(read({"--rows", "a", "-ox", "w"}), "w: a");
    EXPECT_EQ(read({"--rows", "a", "b", "--", "w"}), "w: a b");
    EXPECT_EQ(read({"w", "a", "--rows", "b"}), "unexpected argument a");
    EXPECT_EQ(read({"--rows", "a"}), "FILE is required");
}

// The value of the last letter was taken for the file, which was then missing.
TEST(options, several_values_may_be_followed_by_letters_in_one_word) {
    const auto read = [](std::vector<std::string> arguments) {
        command_line line(listing_rows);
        arguments.insert(arguments.begin(), "list");
        const auto result = line.parse(std::move(arguments), 100);
        const auto* end = std::get_if<early_end>(&result);
        if (end) return end->mistake;
        std::string text = listing::last->file + ":";
        for (const std::string& each : listing::last->rows) text += " " + each;
        return text + (listing::last->quiet ? " quiet " : " ") + listing::last->out;
    };
    EXPECT_EQ(read({"-qo", "x", "--rows", "a", "w"}), "w: a quiet x");
    EXPECT_EQ(read({"--rows", "a", "w", "-qo", "x"}), "w: a quiet x");
    EXPECT_EQ(read({"--rows", "a", "-qox", "w"}), "w: a quiet x");
    EXPECT_EQ(read({"--rows", "a", "-oq", "w"}), "w: a q") << "the rest of the word is the value";
    EXPECT_EQ(read({"-q", "--rows", "a", "w"}), "w: a quiet ");
}

TEST(options, an_input_in_brackets_is_not_taken_apart) {
    EXPECT_EQ(parsed({"w", "-i", "[a=1,2]"})->inputs, (std::vector<std::string>{"[a=1,2]"}));
    EXPECT_EQ(parsed({"[list 1 2]"})->file, "[list 1 2]");
}

TEST(options, quiet_and_verbose_exclude_each_other) {
    EXPECT_EQ(parsed({"1", "-q"})->options.verbosity, -1);
    EXPECT_EQ(ended({"eval", "1", "-q", "-v"}).code, exit_code::usage);
}

TEST(options, an_expression_may_begin_with_a_dash_after_two) {
    EXPECT_EQ(parsed({"--", "-5"})->file, "-5");
}

TEST(options, unknown_ones_are_named_with_what_is_near) {
    const auto end = ended({"run", "w.heddle", "--concurency", "5"});
    EXPECT_EQ(end.code, exit_code::usage);
    EXPECT_NE(end.text.find("unknown option --concurency"), std::string::npos) << end.text;
    EXPECT_NE(end.text.find("did you mean '--concurrency'?"), std::string::npos) << end.text;
    EXPECT_NE(end.text.find("heddle run --help"), std::string::npos) << end.text;
    EXPECT_NE(ended({"evl", "1"}).text.find("did you mean 'eval'?"), std::string::npos);
    EXPECT_NE(ended({"model", "serv"}).text.find("did you mean 'serve'?"), std::string::npos);
}

TEST(options, a_timeout_must_be_a_sensible_number) {
    for (const char* wrong : {"0", "-1", "nan", "inf", "1e12", "soon"}) {
        EXPECT_EQ(ended({"eval", "1", std::string("--timeout=") + wrong}).code, exit_code::usage)
            << wrong;
    }
}

TEST(options, a_number_out_of_range_is_named_with_the_range) {
    const auto mistake = [](const std::vector<std::string>& arguments) {
        const auto end = ended(arguments);
        EXPECT_EQ(end.code, exit_code::usage);
        EXPECT_EQ(end.text, "heddle: " + end.mistake + "\n" + end.hint + "\n");
        return end.mistake;
    };
    EXPECT_EQ(mistake({"fmt", "f", "--width", "0"}), "--width must be from 20 to 1000, not 0");
    EXPECT_EQ(mistake({"run", "f", "-c", "0"}), "--concurrency must be from 1 to 1000000, not 0");
    EXPECT_EQ(mistake({"run", "f", "--step-limit", "-1"}),
              "--step-limit must be from 1 to 1000000000000000000, not -1");
    EXPECT_EQ(mistake({"index", ".", "--limit", "10001"}),
              "--limit must be from 1 to 10000, not 10001");
    EXPECT_EQ(mistake({"tasks", "match", "t", "--threshold", "1.5"}),
              "--threshold must be from 0 to 1, not 1.5");
    EXPECT_EQ(mistake({"cache", "clear", "--older-than", "x"}),
              "--older-than must be from 0 to 36500, not 'x'");
    EXPECT_EQ(mistake({"model", "serve", "--rules", "r", "--port", "70000"}),
              "--port must be from 0 to 65535, not 70000");
    EXPECT_EQ(mistake({"fmt", "f", "--width", "nan"}), "--width must be from 20 to 1000, not nan");
    EXPECT_NE(mistake({"fmt", "f", "--width="}), "");
    EXPECT_EQ(mistake({"run", "f", "--max-calls", "-1"}),
              "--max-calls needs a whole number that is not negative");
}

TEST(options, numbers_are_written_in_decimal_digits) {
    const auto mistake = [](const std::vector<std::string>& arguments) {
        return ended(arguments).mistake;
    };
    for (const char* wrong : {"0x10", " 5", "+5"}) {
        SCOPED_TRACE(wrong);
        const std::string what =
            std::string(" must be written in decimal digits, not '") + wrong + "'";
        EXPECT_EQ(mistake({"run", "f", "-c", wrong}), "--concurrency" + what);
        EXPECT_EQ(mistake({"run", "f", "--step-limit", wrong}), "--step-limit" + what);
        EXPECT_EQ(mistake({"index", ".", "--limit", wrong}), "--limit" + what);
        EXPECT_EQ(mistake({"model", "serve", "--rules", "r", "--port", wrong}), "--port" + what);
    }
    for (const char* wrong : {"0x1", "1e-1", " 0.5", "+1"}) {
        EXPECT_EQ(
            mistake({"run", "f", "--budget-usd", wrong}),
            std::string("--budget-usd must be written in decimal digits, not '") + wrong + "'");
        EXPECT_NE(mistake({"run", "f", "--timeout", wrong}), "") << wrong;
    }
    EXPECT_EQ(parsed({"w", "-c", "010"})->options.concurrency, 10U);
    EXPECT_EQ(parsed({"w", "--budget-usd", "00.50"})->options.budget_usd, 0.5);
}

TEST(options, a_seed_is_a_whole_number_that_fits) {
    EXPECT_EQ(parsed({"w", "--seed", "18446744073709551615"})->options.seed, UINT64_MAX);
    EXPECT_EQ(parsed({"w", "--seed", "0"})->options.seed, 0U);
    for (const char* wrong : {"-1", "18446744073709551616", "99999999999999999999", "1.5", "x"}) {
        EXPECT_EQ(ended({"eval", "1", "--seed", wrong}).mistake,
                  "--seed must be a whole number from 0 to 18446744073709551615, not '" +
                      std::string(wrong) + "'");
    }
    EXPECT_EQ(ended({"eval", "1", "--seed="}).code, exit_code::usage);
}

TEST(options, a_value_of_the_wrong_kind_is_named_with_what_the_option_is) {
    const std::string seconds = ended({"run", "a.heddle", "--timeout", "abc"}).text;
    EXPECT_NE(seconds.find("invalid value 'abc' for --timeout ("), std::string::npos) << seconds;
}

TEST(options, serve_needs_rules_and_a_port_that_exists) {
    EXPECT_EQ(ended({"model", "serve"}).code, exit_code::usage);
    EXPECT_EQ(ended({"model", "serve", "--rules", "r", "--port", "70000"}).code, exit_code::usage);
}

TEST(options, an_unknown_command_is_an_error_whatever_follows) {
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"rnu", "--help"},
                                                      {"rnu", "--json"},
                                                      {"model", "serv", "--help"},
                                                      {"rnu", "--version"}}) {
        const auto end = ended(arguments);
        EXPECT_EQ(end.code, exit_code::usage);
        EXPECT_THAT(end.text, HasSubstr("unknown command"));
    }
    EXPECT_THAT(ended({"rnu", "--help"}).text, HasSubstr("did you mean 'run'?"));
}

TEST(options, the_version_is_json_when_asked_for) {
    EXPECT_EQ(ended({"--version"}).text.substr(0, 7), "heddle ");
    EXPECT_THAT(ended({"--version", "--json"}).text,
                HasSubstr("{\"name\":\"heddle\",\"version\":\""));
}

TEST(help, is_wrapped_and_free_of_traces_of_the_parser) {
    command_line line(all_commands());
    for (const command_help& each : line.help()) {
        for (const unsigned columns : {60U, 80U, 100U}) {
            const std::string text = help_text(each, line.help(), columns);
            EXPECT_THAT(text, Not(HasSubstr("{true}"))) << each.name;
            EXPECT_THAT(text, Not(HasSubstr(":{"))) << each.name;
            EXPECT_THAT(text, Not(HasSubstr("OPTIONS:"))) << each.name;
            if (columns < 100) continue; // examples keep their lines
            for (std::size_t at = 0; at < text.size();) {
                const std::size_t end = std::min(text.find('\n', at), text.size());
                const std::string row = text.substr(at, end - at);
                EXPECT_TRUE(row.starts_with("  heddle") || row.size() <= 120) << each.name << row;
                at = end + 1;
            }
        }
    }
}

TEST(help, describes_each_command_with_a_summary_that_is_an_imperative) {
    for (const command_row* row : all_commands()) {
        EXPECT_FALSE(row->summary.empty()) << row->name;
        EXPECT_FALSE(row->summary.ends_with('.')) << row->name;
        EXPECT_TRUE(row->summary[0] >= 'A' && row->summary[0] <= 'Z') << row->name;
    }
}

TEST(help, of_options_shows_values_defaults_and_groups) {
    EXPECT_THAT(ended({"--help"}).text, HasSubstr("      --version"));
    const std::string text = ended({"run", "--help"}).text;
    EXPECT_THAT(text, HasSubstr("Usage: heddle run [OPTIONS] FILE"));
    EXPECT_THAT(text, HasSubstr("\nLimits:\n"));
    EXPECT_THAT(text, HasSubstr("  -c, --concurrency N"));
    EXPECT_THAT(text, HasSubstr("  --cache, --no-cache"));
    EXPECT_THAT(text, HasSubstr("(default: .)"));
}

TEST(help, names_every_exit_code) {
    EXPECT_THAT(ended({"--help"}).text, HasSubstr("Exit codes: 0 success, 1 the workflow failed,"));
    command_line line(all_commands());
    const std::string details = line.help().front().details;
    for (const exit_code_row& each : exit_code_rows) {
        const std::string code = " " + std::to_string(static_cast<int>(each.code)) + " ";
        EXPECT_THAT(details, HasSubstr(code + std::string(each.meaning)));
    }
}

TEST(help, does_not_offer_an_option_that_the_command_refuses) {
    EXPECT_THAT(ended({"run", "--help"}).text, HasSubstr("--json"));
    EXPECT_THAT(ended({"repl", "--help"}).text, Not(HasSubstr("--json")));
}

TEST(man_page, has_every_command_that_is_not_hidden) {
    command_line line(all_commands());
    const std::string page = man_page(line.help());
    EXPECT_THAT(page, HasSubstr(".SS \"heddle run [OPTIONS] FILE\""));
    EXPECT_THAT(page, HasSubstr("\\-\\-budget\\-usd"));
    EXPECT_THAT(page, Not(HasSubstr("heddle reference")));
}

TEST(completion, knows_commands_and_options_in_each_shell) {
    command_line line(all_commands());
    for (const char* shell : {"bash", "zsh", "fish"}) {
        const std::string script = completion_script(shell, line.help());
        EXPECT_THAT(script, HasSubstr("serve")) << shell;
        EXPECT_THAT(script, HasSubstr("budget-usd")) << shell;
        EXPECT_THAT(script, Not(HasSubstr("reference"))) << shell;
    }
    EXPECT_EQ(completion_script("csh", line.help()), "");
}

TEST(completion, knows_the_arguments_of_help_and_completion) {
    command_line line(all_commands());
    EXPECT_THAT(completion_script("bash", line.help()),
                AllOf(HasSubstr("'heddle completion') words='bash zsh fish' "),
                      HasSubstr("'heddle help model') words='serve' ")));
    EXPECT_THAT(completion_script("zsh", line.help()),
                AllOf(HasSubstr("'heddle completion') found=('bash' 'zsh' 'fish' "),
                      HasSubstr("'heddle help model') found=('serve:")));
    EXPECT_THAT(completion_script("fish", line.help()),
                AllOf(HasSubstr("-n '__heddle_at heddle completion' -a bash\n"),
                      HasSubstr("-n '__heddle_at heddle help model' -a serve ")));
}

TEST(completion, offers_files_only_where_an_argument_may_be_one) {
    command_line line(all_commands());
    const std::string bash = completion_script("bash", line.help());
    const std::string fish = completion_script("fish", line.help());
    for (const char* name : {"models", "tasks list", "model", "completion"}) {
        SCOPED_TRACE(name);
        const std::string at = "'heddle " + std::string(name) + "') ";
        const std::size_t begin = bash.find("        " + at + "words=");
        ASSERT_NE(begin, std::string::npos);
        EXPECT_THAT(bash.substr(begin, bash.find('\n', begin) - begin), Not(HasSubstr("files=1")));
        EXPECT_THAT(fish, HasSubstr("'__heddle_at heddle " + std::string(name) + "' -f\n"));
    }
    EXPECT_THAT(fish, Not(HasSubstr("'__heddle_at heddle run' -f\n")));
}

TEST(completion, for_fish_compares_whole_words) {
    command_line line(all_commands());
    const std::string script = completion_script("fish", line.help());
    EXPECT_THAT(script, HasSubstr("-n '__heddle_at heddle model' -a serve"));
    EXPECT_THAT(script, Not(HasSubstr("string match")));
}

TEST(completion, for_zsh_has_no_variable_that_is_one_of_the_shell) {
    command_line line(all_commands());
    const std::string script = completion_script("zsh", line.help());
    for (const char* name : {"path=", "commands=", "status="}) {
        EXPECT_THAT(script, Not(HasSubstr(std::string(" ") + name))) << name;
    }
}

} // namespace
} // namespace heddle::cli
