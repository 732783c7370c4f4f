#include "context_testing.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

#include <sys/stat.h>

namespace heddle::tasks {
namespace {

using testing::context_bench;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::paths_of;
using testing::reason_of;
using kind = file_paths_source::kind;

/// A bench with a few files.
struct bench : context_bench {
    bench() {
        folder.file("a.txt", "one");
        folder.file("b.txt", "two");
        folder.file("src/parser.cpp", "void parse_json();");
    }
    assembled_context good(task_template declared, const std::string& clauses = "()",
                           std::shared_ptr<const assembled_context> inherited = nullptr) {
        auto result = make(std::move(declared), clauses, std::move(inherited));
        EXPECT_TRUE(result) << (result ? "" : result.error().message());
        return result ? **result : assembled_context();
    }
};

[[nodiscard]] task_template with_files(kind from, std::string text) {
    task_template declared;
    declared.files = file_paths_source{from, {}, std::move(text)};
    return declared;
}

[[nodiscard]] task_template fresh() {
    task_template declared;
    declared.description = "Mends the parser";
    declared.context.fresh_context = true;
    return declared;
}

[[nodiscard]] std::shared_ptr<const assembled_context> callers() {
    auto object = std::make_shared<assembled_context>();
    object->parts.push_back(
        {"weft.md", std::make_shared<const std::string>("the shuttle carries it")});
    object->parts.push_back(
        {"parser.md", std::make_shared<const std::string>("how the parser works")});
    object->text = "…";
    return object;
}

TEST(context_files, of_a_call_come_first) {
    bench b;
    b.memory.find({b.folder.at("src/parser.cpp")});
    task_template declared = with_files(kind::literal, "");
    declared.files->paths = {"a.txt"};
    const assembled_context context =
        b.good(declared, "((files (\"b.txt\" \"./b.txt\" \"a.txt\")))");
    EXPECT_EQ(context.source, context_source::explicit_request);
    EXPECT_EQ(context.text,
              "<context>\n<file path=\"b.txt\">\ntwo\n</file>\n"
              "<file path=\"a.txt\">\none\n</file>\n</context>");
    EXPECT_TRUE(b.concerned);
    const assembled_context none = b.good(fresh(), "((files ()))");
    EXPECT_EQ(none.source, context_source::explicit_request);
    EXPECT_TRUE(none.text.empty());
    EXPECT_TRUE(b.memory.asked.empty());
}

TEST(context_files, of_the_template_come_before_a_look_up) {
    bench b;
    task_template declared = fresh();
    declared.files = file_paths_source{kind::literal, {"a.txt"}, {}};
    const assembled_context context = b.good(declared);
    EXPECT_EQ(context.source, context_source::task_template);
    EXPECT_THAT(paths_of(context), ElementsAre("a.txt"));
    EXPECT_TRUE(b.memory.asked.empty());
}

TEST(context_files, that_are_missing_or_refused_are_warnings) {
    bench b;
    std::filesystem::create_symlink("/etc/passwd", b.folder.path / "link.txt");
    b.folder.file("binary.bin", std::string("\xFF\xFE\x00", 3));
    const assembled_context context =
        b.good({},
               "((files (\"none.txt\" \"../secret\" \"/etc/passwd\" \"link.txt\" \"binary.bin\" "
               "\"src\" \"a.txt\")))");
    EXPECT_THAT(paths_of(context), ElementsAre("a.txt"));
    ASSERT_EQ(context.warnings.size(), 6U);
    EXPECT_THAT(context.warnings[0], HasSubstr("none.txt is left out"));
    EXPECT_THAT(context.warnings[1], HasSubstr("../secret"));
    EXPECT_THAT(context.text, ::testing::Not(HasSubstr("root:")));
}

TEST(context_files, many_missing_ones_are_reported_in_few_words) {
    bench b;
    task_template declared = with_files(kind::literal, "");
    for (int i = 0; i < 100; ++i) declared.files->paths.push_back("none-" + std::to_string(i));
    EXPECT_EQ(b.good(declared).warnings.size(), 21U);
    b.options.max_files = 10;
    EXPECT_THAT(b.good(declared).warnings[0], HasSubstr("only the first 10 of 100 files"));
}

TEST(context_files, without_access_to_files_are_reported) {
    bench b;
    b.sources.files = nullptr;
    EXPECT_THAT(b.good({}, "((files (\"a.txt\")))").warnings,
                ElementsAre(HasSubstr("has no access to files")));
}

TEST(context_command, prints_one_path_a_line) {
    bench b;
    b.processes.print("b.txt\r\n\na.txt\nb.txt\n");
    const assembled_context context = b.good(with_files(kind::command, "git ls-files"));
    EXPECT_THAT(paths_of(context), ElementsAre("b.txt", "a.txt"));
    EXPECT_EQ(context.source, context_source::task_template);
    EXPECT_THAT(context.warnings, IsEmpty());
    ASSERT_EQ(b.processes.asked.size(), 1U);
    EXPECT_THAT(b.processes.asked[0].arguments, ElementsAre("git ls-files"));
    EXPECT_TRUE(b.processes.asked[0].through_shell);
    EXPECT_EQ(b.processes.asked[0].max_output, b.options.max_command_output);
}

TEST(context_command, that_fails_is_a_warning) {
    bench b;
    b.processes.print("a.txt\n", 2, "no such thing\nsecond line");
    const assembled_context context = b.good(with_files(kind::command, "git ls-files"));
    EXPECT_THAT(paths_of(context), ElementsAre("a.txt"));
    EXPECT_THAT(context.warnings,
                ElementsAre("file_paths: the command `git ls-files` ended with 2: "
                            "no such thing"));
    b.processes.outcome = error(ports::process_errc::start_failed, "no more processes");
    EXPECT_THAT(b.good(with_files(kind::command, "ls")).warnings,
                ElementsAre(HasSubstr("cannot be run: no more processes")));
    b.sources.processes = nullptr;
    EXPECT_THAT(b.good(with_files(kind::command, "ls")).warnings,
                ElementsAre(HasSubstr("this program runs no commands")));
}

TEST(context_command, that_prints_too_much_loses_its_last_line) {
    bench b;
    ports::process_result result;
    result.out = "a.txt\nb.t";
    result.out_dropped = 10;
    b.processes.outcome = result;
    const assembled_context context = b.good(with_files(kind::command, "ls"));
    EXPECT_THAT(paths_of(context), ElementsAre("a.txt"));
    EXPECT_THAT(context.warnings, ElementsAre(HasSubstr("printed too much")));
}

TEST(context_command, that_prints_rubbish_is_a_warning) {
    bench b;
    b.processes.print("a.txt\n\xFF\xFE\n" + std::string(5000, 'x') + "\n");
    const assembled_context context = b.good(with_files(kind::command, "ls"));
    EXPECT_THAT(paths_of(context), ElementsAre("a.txt"));
    EXPECT_EQ(context.warnings.size(), 2U);
}

TEST(context_command, has_a_time_of_its_own) {
    bench b;
    b.processes.waits = true;
    b.options.command_timeout = std::chrono::milliseconds(20);
    const assembled_context context = b.good(with_files(kind::command, "sleep 1000"));
    EXPECT_THAT(context.warnings, ElementsAre(HasSubstr("did not end within")));
}

TEST(context_description, is_looked_up_after_substitution) {
    bench b;
    b.memory.find({b.folder.at("src/parser.cpp"), b.folder.at("none.cpp")});
    task_template declared = with_files(kind::context_description, "files about {{topic}}");
    declared.inputs.emplace_back().name = "topic";
    declared.description = "Explains";
    const assembled_context found = b.good(declared, "((topic \"parsers\"))");
    EXPECT_EQ(found.source, context_source::task_template);
    EXPECT_THAT(paths_of(found), ElementsAre("src/parser.cpp"));
    EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("none.cpp")));
    ASSERT_EQ(b.memory.asked.size(), 1U);
    EXPECT_EQ(b.memory.asked[0].query, "files about parsers");
    EXPECT_EQ(b.memory.asked[0].template_description, "Explains");
    EXPECT_EQ(b.memory.asked[0].inputs->at(0).text, "parsers");
    EXPECT_EQ(b.memory.asked[0].limit, b.options.lookup_limit);
}

TEST(context_lookup, is_automatic_with_fresh_context) {
    bench b;
    b.memory.find({b.folder.at("src/parser.cpp")});
    const assembled_context context = b.good(fresh(), "((wish \"json\"))");
    EXPECT_EQ(context.source, context_source::automatic_lookup);
    EXPECT_THAT(paths_of(context), ElementsAre("src/parser.cpp"));
    EXPECT_EQ(b.memory.asked[0].query, "Mends the parser");
    EXPECT_FALSE(b.memory.asked[0].template_description);
    EXPECT_EQ(b.memory.asked[0].inputs->at(0).name, "wish");
    EXPECT_TRUE(b.concerned);
}

TEST(context_lookup, asks_with_the_prompt_where_nobody_described_the_task) {
    bench b;
    task_template declared = fresh();
    declared.description = "Inline task definition";
    declared.instructions = "Mend {{what}}";
    (void)b.good(declared, "((what \"the lexer\"))");
    EXPECT_EQ(b.memory.asked[0].query, "Mend the lexer");
}

TEST(context_lookup, names_the_inputs_that_take_part) {
    bench b;
    task_template declared = fresh();
    declared.relevance = {{"secret", false}};
    (void)b.good(declared, "((secret \"s\") (wish \"w\"))");
    ASSERT_EQ(b.memory.asked[0].inputs->size(), 1U);
    EXPECT_EQ(b.memory.asked[0].inputs->at(0).name, "wish");
    declared.relevance = {{"wish", true}};
    (void)b.good(declared, "((secret \"s\") (wish \"w\") (other 1))");
    ASSERT_EQ(b.memory.asked[1].inputs->size(), 1U);
    EXPECT_EQ(b.memory.asked[1].inputs->at(0).name, "wish");
}

TEST(context_lookup, that_fails_ends_the_task) {
    bench b;
    b.memory.response = error(heddle::errc::io_error, "the disk is gone").with_hint("mount it");
    const auto result = b.make(fresh());
    ASSERT_FALSE(result);
    EXPECT_EQ(reason_of(result.error()), "context_retrieval_failure");
    EXPECT_THAT(result.error().message(), HasSubstr("the disk is gone"));
    EXPECT_EQ(result.error().info().hint, "mount it");
    ports::memory_response broken;
    broken.error = "no index";
    b.memory.response = broken;
    EXPECT_EQ(reason_of(b.make(fresh()).error()), "context_retrieval_failure");
}

TEST(context_lookup, without_a_memory_warns_only_who_asked_for_it) {
    bench b;
    b.sources.memory = nullptr;
    EXPECT_THAT(b.good(fresh()).warnings, ElementsAre(HasSubstr("there is no index of files")));
    task_template subtask;
    subtask.subtype = "subtask";
    EXPECT_THAT(b.good(subtask).warnings, IsEmpty());
    EXPECT_FALSE(b.concerned);
}

TEST(context_query, with_an_unknown_placeholder_is_refused) {
    bench b;
    const auto result = b.make(with_files(kind::context_description, "about {{nothing}}"));
    ASSERT_FALSE(result);
    EXPECT_EQ(reason_of(result.error()), "input_validation_failure");
    EXPECT_THAT(result.error().message(), HasSubstr("task t: file_paths: "));
    EXPECT_TRUE(b.memory.asked.empty());
}

TEST(inherited_context, is_whole_in_part_or_absent) {
    bench b;
    task_template declared;
    declared.description = "Mends the parser";
    const assembled_context full = b.good(declared, "()", callers());
    EXPECT_EQ(full.source, context_source::inherited);
    EXPECT_THAT(paths_of(full), ElementsAre("weft.md", "parser.md"));
    EXPECT_TRUE(b.concerned);
    const assembled_context part =
        b.good(declared, "((context ((inherit_context subset))))", callers());
    EXPECT_THAT(paths_of(part), ElementsAre("parser.md"));
    const assembled_context none =
        b.good(declared, "((context ((inherit_context none))))", callers());
    EXPECT_EQ(none.source, context_source::none);
    EXPECT_TRUE(none.text.empty());
    EXPECT_FALSE(b.concerned);
}

TEST(inherited_context, follows_the_files_of_the_task_and_repeats_none) {
    bench b;
    auto inherited = std::make_shared<assembled_context>(*callers());
    inherited->parts.push_back({"a.txt", std::make_shared<const std::string>("old")});
    const assembled_context context = b.good({}, "((files (\"a.txt\")))", inherited);
    EXPECT_EQ(context.source, context_source::explicit_request);
    EXPECT_THAT(paths_of(context), ElementsAre("a.txt", "weft.md", "parser.md"));
    EXPECT_EQ(*context.parts[0].text, "one");
    EXPECT_EQ(context.parts[1].text.get(), inherited->parts[0].text.get()) << "the text is shared";
}

TEST(inherited_context, and_a_look_up_go_together_in_a_subtask) {
    bench b;
    b.memory.find({b.folder.at("src/parser.cpp")});
    task_template declared;
    declared.subtype = "subtask";
    declared.description = "Mends the parser";
    const assembled_context context = b.good(declared, "()", callers());
    EXPECT_EQ(context.source, context_source::automatic_lookup);
    EXPECT_THAT(paths_of(context), ElementsAre("src/parser.cpp", "parser.md"));
    EXPECT_EQ(b.memory.asked[0].inherited_context, "weft.md\nparser.md\n");
}

TEST(inherited_context, of_a_workflow_is_what_is_named_around_the_call) {
    bench b;
    lang::heap& memory = b.w.session->memory();
    const std::array<lang::value, 2> files{lang::make_string(memory, "a.txt"),
                                           lang::make_string(memory, "b.txt")};
    b.scope = b.scope.open(memory, [&](lang::dynamic_scope& scope) {
        scope.settings = lang::map_put(memory, lang::value::empty_map(), "files",
                                       lang::make_list(memory, files));
    });
    const assembled_context context = b.good({});
    EXPECT_EQ(context.source, context_source::inherited);
    EXPECT_THAT(paths_of(context), ElementsAre("a.txt", "b.txt"));
    EXPECT_TRUE(b.concerned);
    EXPECT_THAT(paths_of(b.good({}, "((files (\"b.txt\")))")), ElementsAre("b.txt", "a.txt"));
    EXPECT_TRUE(b.good({}, "((context ((inherit_context none))))").text.empty());
}

TEST(context_assembly, orders_and_drops_parts) {
    bench b;
    task_template declared;
    declared.assembly = {{"b.txt"}, {"a.txt"}, {"weft.md"}};
    const assembled_context context =
        b.good(declared, "((files (\"a.txt\" \"src/parser.cpp\" \"b.txt\")))", callers());
    EXPECT_THAT(paths_of(context), ElementsAre("b.txt", "src/parser.cpp", "parser.md", "a.txt"));
}

TEST(context_room, cuts_at_whole_documents) {
    bench b;
    b.folder.file("big.txt", std::string(20'000, 'x'));
    b.room = 2000;
    const assembled_context context = b.good({}, "((files (\"a.txt\" \"big.txt\" \"b.txt\")))");
    EXPECT_THAT(paths_of(context), ElementsAre("a.txt", "b.txt"));
    EXPECT_THAT(context.left_out, ElementsAre("big.txt"));
    EXPECT_THAT(context.text, HasSubstr("<left_out>1 file did not fit: big.txt</left_out>"));
    EXPECT_THAT(context.warnings, ElementsAre(HasSubstr("did not fit into the context")));
    b.room = 0;
    const assembled_context none = b.good({}, "((files (\"a.txt\")))");
    EXPECT_TRUE(none.text.empty());
    EXPECT_THAT(none.left_out, ElementsAre("a.txt"));
    b.room = -5;
    EXPECT_TRUE(b.good({}, "((files (\"a.txt\")))").text.empty());
}

TEST(context_room, bounds_what_is_read) {
    bench b;
    task_template declared = with_files(kind::literal, "");
    for (int i = 0; i < 64; ++i) {
        const std::string name = "big-" + std::to_string(i);
        b.folder.file(name, std::string(3000, 'x'));
        declared.files->paths.push_back(name);
    }
    b.options.max_bytes = 4000;
    const assembled_context context = b.good(declared);
    EXPECT_LE(context.text.size(), 4000U);
    EXPECT_EQ(context.left_out.size(), 64U - context.parts.size());
}

TEST(context_text, is_the_same_for_the_same_files) {
    bench b;
    task_template declared = with_files(kind::literal, "");
    for (int i = 0; i < 40; ++i) {
        const std::string name = "f-" + std::to_string(i);
        b.folder.file(name, std::string(static_cast<std::size_t>(40 - i) * 50, 'x'));
        declared.files->paths.push_back(name);
    }
    b.options.max_bytes = 9000; // not all of them fit
    const std::string first = b.good(declared).text;
    for (int i = 0; i < 5; ++i) EXPECT_EQ(b.good(declared).text, first);
}

TEST(context_of_a_plain_task, costs_nothing) {
    bench b;
    auto call = b.bind({}, "()");
    ASSERT_TRUE(call);
    context_builder builder(b.sources, b.options);
    EXPECT_FALSE(builder.concerns(*call, false));
}

/// Cancels after the work has parked.
[[nodiscard]] error cancelled_in(bench& b, task_template declared, const std::string& clauses) {
    coro::cancel_source cancel;
    b.cancel = &cancel;
    b.w.runner.later([&] { cancel.request(cancel_reason::user); }, 20);
    auto result = b.make(std::move(declared), clauses);
    EXPECT_FALSE(result);
    return result ? error(heddle::errc::internal, "") : result.error();
}

TEST(context_cancellation, ends_a_command_a_look_up_and_a_read) {
    bench command;
    command.processes.waits = true;
    EXPECT_EQ(
        cancelled_in(command, with_files(kind::command, "sleep 1000"), "()").cancelled_because(),
        cancel_reason::user);
    bench lookup;
    lookup.memory.waits = true;
    EXPECT_EQ(cancelled_in(lookup, fresh(), "()").cancelled_because(), cancel_reason::user);
    bench read;
    ASSERT_EQ(::mkfifo(read.folder.at("pipe").c_str(), 0600), 0);
    EXPECT_THAT(read.good({}, "((files (\"pipe\")))").warnings, ElementsAre(HasSubstr("pipe")));
}

TEST(context_cancellation, by_the_deadline_of_the_call_is_no_slow_command) {
    bench b;
    b.processes.waits = true;
    b.until = b.w.runner.in(std::chrono::milliseconds(20));
    const auto result = b.make(with_files(kind::command, "sleep 1000"));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().cancelled_because(), cancel_reason::deadline);
}

/// Reads wait until they are cancelled.
class waiting_files final : public ports::file_port {
public:
    coro::task<result<std::string>> read(std::string, coro::call_context context) override {
        most = std::max(most, ++reading);
        const auto slept =
            co_await coro::sleep_until(context, context.loop->now() + std::chrono::hours(1));
        --reading;
        co_return slept ? error(heddle::errc::internal, "woken") : slept.error();
    }
    coro::task<result<void>> write(std::string, std::string, coro::call_context) override {
        co_return result<void>();
    }
    coro::task<result<bool>> exists(std::string, coro::call_context) override { co_return true; }
    coro::task<result<std::vector<std::string>>> list(std::string, coro::call_context) override {
        co_return std::vector<std::string>();
    }
    int reading = 0;
    int most = 0;
};

TEST(context_cancellation, ends_all_reads_under_way) {
    bench b;
    waiting_files slow;
    b.sources.files = &slow;
    task_template declared = with_files(kind::literal, "");
    for (int i = 0; i < 100; ++i) declared.files->paths.push_back(std::to_string(i));
    EXPECT_EQ(cancelled_in(b, declared, "()").cancelled_because(), cancel_reason::user);
    EXPECT_EQ(slow.reading, 0);
    EXPECT_EQ(slow.most, 8);
}

} // namespace
} // namespace heddle::tasks
