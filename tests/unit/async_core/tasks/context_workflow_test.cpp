#include "context_testing.hpp"
#include "test_paths.hpp"

#include <heddle/fs/local_tree.hpp>
#include <heddle/memory/memory_system.hpp>
#include <heddle/process/child_processes.hpp>
#include <heddle/tasks/template_files/template_loader.hpp>

namespace heddle::tasks {
namespace {

using ::testing::AllOf;
using testing::context_harness;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::paths_of;
using ::testing::StartsWith;

struct files_harness : context_harness {
    explicit files_harness(model_matching matching = {}) : context_harness(matching) {
        folder.file("a.txt", "one\n");
        folder.file("b.txt", "two\n");
        llm.say("done");
        EXPECT_EQ(
            json("(defatom ask (params q) (instructions \"Q: {{q}}\") (system \"You help.\"))"),
            "\"ask\"");
    }
};

TEST(context_of_a_call, is_behind_the_system_prompts) {
    files_harness w;
    EXPECT_THAT(w.json("(get-field (ask (q \"why\") (files '(\"b.txt\" \"a.txt\"))) \"notes\")"),
                AllOf(HasSubstr(R"("template_used":"ask")"),
                      HasSubstr(R"("context_source":"explicit_request","context_files_count":2)"),
                      HasSubstr(R"("context_files":["b.txt","a.txt"])")));
    ASSERT_EQ(w.llm.asked.size(), 1U);
    ASSERT_EQ(w.llm.asked[0].messages.size(), 2U);
    EXPECT_EQ(w.sent(0),
              "Be exact.\n\nYou help.\n\n<context>\n"
              "<file path=\"b.txt\">\ntwo\n</file>\n"
              "<file path=\"a.txt\">\none\n</file>\n"
              "</context>");
    EXPECT_EQ(w.sent(1), "Q: why");
}

TEST(context_of_a_call, logs_what_is_missing) {
    files_harness w;
    EXPECT_THAT(w.json("(get-in (ask (q 1) (files '(\"nofile.md\"))) '(notes warnings))"),
                HasSubstr("nofile.md"));
    EXPECT_TRUE(w.log.said("task ask: the file nofile.md is left out"));
}

TEST(context_of_a_call, takes_a_file_once_however_it_is_spelled) {
    files_harness w;
    const std::string root = w.folder.path.string();
    EXPECT_EQ(w.json("(get-in (ask (q 1) (files '(\"a.txt\" \"./a.txt\" \"" + root + "/a.txt\" \"" +
                     root + "/../" + w.folder.path.filename().string() +
                     "/b.txt\"))) '(notes context_files))"),
              R"(["a.txt","b.txt"])");
    // Around a call, and looked up inside.
    w.memory.find({root + "/a.txt", root + "/b.txt"});
    EXPECT_EQ(
        w.json("(defatom look (params q) (description \"d\") (subtype \"subtask\") "
               "(instructions \"{{q}}\")) (with ((files '(\"a.txt\"))) (get-in (look \"one\") "
               "'(notes context_files)))"),
        R"(["a.txt","b.txt"])");
    // Patterns of the assembly see the same names.
    EXPECT_EQ(w.json("(defatom less (params q) (description \"d\") (subtype \"subtask\") "
                     "(instructions \"{{q}}\") (context_assembly ((excluded_elements "
                     "(\"/a.txt\"))))) (get-in (less \"one\") '(notes context_files))"),
              R"(["b.txt"])");
}

TEST(context_of_a_subtask, has_the_preset_of_the_subtype_that_was_asked_for) {
    files_harness w;
    w.memory.find({"a.txt"});
    const auto source = [&](const std::string& more) {
        w.llm.replies.clear();
        w.llm.say(R"({"status":"CONTINUATION","content":"","notes":{"subtask_request":{"type":)"
                  R"("atomic","description":"d","inputs":{"q":"x"},"name":"ask")" +
                  more + "}}}");
        w.llm.say("done");
        return w.json(
            "(defatom parent (params) (instructions \"p\") (output_format ((type "
            "\"json\")))) (get-in (parent) '(notes context_source))");
    };
    EXPECT_EQ(source(""), "\"none\"");
    EXPECT_EQ(source(R"(,"subtype":"subtask")"), "\"automatic_lookup\"");
}

TEST(settings_without_effect, are_reported) {
    files_harness w;
    w.json(
        "(defatom keeps (params) (instructions \"k\") (context_management ((accumulate_data "
        "true)))) (keeps)");
    EXPECT_TRUE(w.log.said("task keeps: accumulate_data and accumulation_format have no effect"));
    EXPECT_THAT(w.json("(defatom bound (params) (instructions \"k\") (resource_limits "
                       "((max_context 0.5)))) (get-in (bound) '(notes warnings))"),
                HasSubstr("max_context has no effect: the window of the model 'test-model'"));
}

TEST(context_of_a_call, is_absent_without_files) {
    files_harness w;
    EXPECT_THAT(w.json("(get-field (ask (q \"why\")) \"notes\")"),
                AllOf(HasSubstr(R"("context_source":"none","context_files_count":0)"),
                      Not(HasSubstr("context_files\""))));
    EXPECT_EQ(w.sent(0), "Be exact.\n\nYou help.");
}

TEST(context_of_a_call, is_the_same_prefix_every_time) {
    files_harness w;
    EXPECT_THAT(w.json("(map (lambda (q) (content (ask (q q) (files '(\"a.txt\"))))) '(1 2 3))"),
                R"(["done","done","done"])");
    ASSERT_EQ(w.llm.asked.size(), 3U);
    EXPECT_EQ(w.llm.asked[0].messages[0].text, w.llm.asked[1].messages[0].text);
    EXPECT_EQ(w.llm.asked[0].messages[0].text, w.llm.asked[2].messages[0].text);
}

TEST(context_of_a_call, that_misses_a_file_goes_on_with_a_warning) {
    files_harness w;
    EXPECT_THAT(w.json("(let ((r (ask (q 1) (files '(\"none.txt\" \"a.txt\"))))) "
                       "(list (ok? r) (get-in r '(\"notes\" \"warnings\"))))"),
                AllOf(StartsWith("[true,["), HasSubstr("none.txt is left out")));
}

TEST(with_files, is_the_context_of_the_calls_inside) {
    files_harness w;
    EXPECT_THAT(w.json("(with ((files (list \"a.txt\"))) (get-field (ask (q 1)) \"notes\"))"),
                HasSubstr(R"("context_source":"inherited","context_files_count":1)"));
    EXPECT_THAT(w.sent(0), HasSubstr("one"));
    EXPECT_THAT(w.json("(with ((files (list \"a.txt\"))) "
                       "(get-field (ask (q 1) (context '((inherit_context none)))) \"notes\"))"),
                HasSubstr(R"("context_source":"none")"));
    EXPECT_THAT(w.json("(with ((files \"a.txt\")) (ask (q 1)))"),
                "TypeError: with: files must be a list of strings, not \"a.txt\"");
    EXPECT_THAT(w.json("(with ((file 1)) 1)"), HasSubstr("unknown setting 'file'"));
}

TEST(sandbox, chooses_no_files_for_a_model) {
    files_harness w;
    const auto inside = [&](const std::string& code) {
        return w.json("(sandbox ((allow (ask))) (eval (parse \"" + code + "\")))");
    };
    EXPECT_EQ(inside("(ask (q 1) (files (list (quote a.txt))))").substr(0, 19),
              "SexpEvaluationError"); // a symbol is not a path
    EXPECT_EQ(w.json("(sandbox ((allow (ask))) (ask (q 1) (files '(\"a.txt\"))))"),
              "PermissionError: task ask: a call in a sandbox cannot name files");
    EXPECT_EQ(inside("(ask (q 1) (context (quote ((fresh_context enabled)))))"),
              "PermissionError: task ask: a call in a sandbox cannot look files up");
    EXPECT_EQ(inside("(with ((files (list 1))) (ask (q 1)))"),
              "PermissionError: with: a sandbox cannot pass files to tasks");
    EXPECT_EQ(w.json("(sandbox ((allow (ask))) (with ((files '(\"a.txt\"))) 1))"),
              "PermissionError: with: a sandbox cannot pass files to tasks");
    EXPECT_TRUE(w.llm.asked.empty());
    EXPECT_EQ(w.json("(with ((files '(\"a.txt\"))) (sandbox ((allow (ask))) (ok? (ask (q 1)))))"),
              "true");
    EXPECT_THAT(w.sent(0), HasSubstr("one"));
    EXPECT_EQ(w.json("(sandbox ((allow (ask))) (ok? (ask (q 1) (files ()))))"), "true");
}

TEST(file_paths_of_a_template, by_command_are_read) {
    files_harness w;
    w.processes.print("b.txt\n");
    EXPECT_THAT(w.json("(defatom review (params) (instructions \"Review\") "
                       "(file_paths ((command \"git diff --name-only\")))) "
                       "(get-field (review) \"notes\")"),
                HasSubstr(R"("context_source":"template","context_files_count":1)"));
    EXPECT_THAT(w.sent(0), HasSubstr("<file path=\"b.txt\">\ntwo\n</file>"));
}

TEST(file_paths_of_a_template, are_printed_by_real_programs) {
    testing::context_bench b;
    b.folder.file("a.txt", "one");
    b.folder.file("b.md", "two");
    process::process_options children;
    children.workspace = b.folder.path.string();
    const auto programs = process::make_process_port(b.w.runner.loop, std::move(children)).value();
    b.sources.processes = programs.get();
    const auto with_command = [&](std::string command) {
        task_template declared;
        declared.files =
            file_paths_source{file_paths_source::kind::command, {}, std::move(command)};
        auto result = b.make(std::move(declared));
        EXPECT_TRUE(result);
        return result ? **result : assembled_context();
    };
    EXPECT_THAT(testing::paths_of(with_command("ls *.md")), ::testing::ElementsAre("b.md"));
    EXPECT_THAT(with_command("ls none*; exit 3").warnings,
                ::testing::ElementsAre(HasSubstr("ended with 3: ls:")));
    b.options.max_command_output = 1000;
    EXPECT_THAT(with_command("echo a.txt; yes none.txt | head -1000").warnings.front(),
                HasSubstr("printed too much"));
    b.options.command_timeout = std::chrono::milliseconds(200);
    EXPECT_THAT(with_command("sleep 1000").warnings,
                ::testing::ElementsAre(HasSubstr("did not end within")));
    coro::cancel_source cancel;
    b.cancel = &cancel;
    b.options.command_timeout = std::chrono::hours(1);
    b.w.runner.later([&] { cancel.request(cancel_reason::user); }, 20);
    task_template declared;
    declared.files = file_paths_source{file_paths_source::kind::command, {}, "sleep 1000"};
    const auto result = b.make(std::move(declared));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().cancelled_because(), cancel_reason::user);
}

/// Registers the templates of an XML text.
void load(context_harness& w, std::string name, std::string xml) {
    template_loader loader;
    loader.add(std::move(name), std::move(xml));
    loaded_templates loaded = std::move(loader).finish();
    ASSERT_TRUE(loaded.good()) << loaded.report->text();
    auto* tasks = dynamic_cast<session_tasks*>(w.session->operators());
    for (task_template& one : loaded.templates) ASSERT_TRUE(tasks->add(std::move(one)));
}

TEST(template_file, sets_all_of_its_context) {
    files_harness w;
    w.folder.file("secret.txt", "key");
    w.processes.print("a.txt\nsecret.txt\nb.txt\n");
    load(w, "review.xml", R"(<template name="review" params="goal"><task type="atomic">
        <description>Review {{goal}}</description><instructions>Go</instructions>
        <file_paths source="command"><command>git ls-files</command></file_paths>
        <context_assembly><primary_elements>b.*, c.txt</primary_elements>
        <excluded_elements>secret.*</excluded_elements></context_assembly>
        </task></template>)");
    EXPECT_THAT(w.json("(get-field (review (goal \"all\")) \"notes\")"),
                HasSubstr(R"("context_files":["b.txt","a.txt"])"));
    EXPECT_THAT(w.sent(0), Not(HasSubstr("key")));
}

TEST(template_file, of_the_aider_kind_looks_up_what_its_goal_needs) {
    files_harness w;
    std::ifstream stream(std::string(heddle::test_paths::data_folder()) +
                         "/templates/aider_automatic.xml");
    load(w, "aider_automatic.xml", {std::istreambuf_iterator<char>(stream), {}});
    w.memory.find({w.folder.at("a.txt")});
    EXPECT_THAT(w.json("(get-field (aider_automatic (prompt \"Mend it\") "
                       "(task_description \"the lexer\")) \"notes\")"),
                HasSubstr(R"("context_source":"template","context_files_count":1)"));
    ASSERT_EQ(w.memory.asked.size(), 1U);
    EXPECT_EQ(w.memory.asked[0].query, "Files relevant to: the lexer");
}

TEST(fresh_context, that_cannot_be_looked_up_fails_the_task) {
    files_harness w;
    w.memory.response = error(heddle::errc::io_error, "the disk is gone");
    EXPECT_THAT(
        w.json("(let ((r (ask (q 1) (context '((fresh_context enabled)))))) "
               "(list (get-field r \"status\") (get-in r '(\"notes\" \"error\" \"reason\"))))"),
        R"(["FAILED","context_retrieval_failure"])");
    EXPECT_TRUE(w.llm.asked.empty());
}

TEST(fresh_context, of_a_real_index_finds_the_file) {
    context_harness w;
    w.folder.file("src/shuttle.cpp",
                  "// carries the weft through the shed\nvoid throw_shuttle();\n");
    w.folder.file("src/reed.cpp", "// beats the weft\nvoid beat();\n");
    w.folder.file("docs/colours.md", "# Colours\nIndigo and madder.\n");
    const auto workers = fs::make_worker_pool(w.runner.loop, 1);
    memory::memory_options kept;
    memory::index_options root;
    root.root = w.folder.path.string();
    kept.roots.push_back(root);
    memory::memory_system real(*workers, fs::make_local_tree(), std::move(kept));
    context_sources sources;
    sources.memory = &real;
    context_builder builder(sources);
    task_system_parts tasks;
    tasks.models = &w.models;
    tasks.context = &builder;
    host::engine_parts parts;
    parts.files = w.files.get();
    parts.operators = operators(std::move(tasks));
    host::engine engine(w.runner.loop, std::move(parts));
    const auto session = engine.new_session().value();
    w.llm.say("done");
    const auto ended = w.runner.run(session->evaluate(
        "test",
        "(defatom mend (params) (description \"Mend throwShuttle\") (instructions \"Go\") "
        "(context_management ((fresh_context enabled)))) (get-field (mend) \"notes\")"));
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_THAT(lang::value_to_json(*ended).value(),
                AllOf(HasSubstr(R"("context_source":"automatic_lookup","context_files_count":1)"),
                      HasSubstr("src/shuttle.cpp\"]")));
    EXPECT_THAT(w.sent(0), HasSubstr("void throw_shuttle();"));
}

[[nodiscard]] model_matching staged(std::size_t shard = 10) {
    model_matching matching;
    matching.enabled = true;
    matching.shard = shard;
    return matching;
}

TEST(model_stage, chooses_among_what_the_index_found) {
    context_harness w(staged());
    w.memory.find({"/x/a", "/x/b", "/x/c"});
    w.memory.response->matches[0].content = "text of a";
    w.llm.say(R"({"matches":[{"id":3,"relevance":0.9},{"id":1,"relevance":0.4}]})");
    EXPECT_EQ(w.json("(get_context (query \"the weft\") (template_description \"Explain\") "
                     "(inputs '((topic \"looms\"))))"),
              R"(["/x/c","/x/a"])");
    ASSERT_EQ(w.llm.asked.size(), 1U);
    EXPECT_THAT(w.sent(1),
                AllOf(HasSubstr("Question: the weft\nTask: Explain\ntopic: looms\n"),
                      HasSubstr("1. /x/a: about /x/a\n\"\"\"\ntext of a\n\"\"\"\n2. /x/b")));
    EXPECT_EQ(w.llm.asked[0].max_output_tokens, 1000);
    EXPECT_EQ(w.llm.asked[0].format.type, ports::response_format::kind::json_schema);
    EXPECT_EQ(w.memory.asked[0].limit, 40U);
    EXPECT_TRUE(w.memory.asked[0].include_content);
}

TEST(model_stage, by_metadata_sends_no_text) {
    context_harness w(staged());
    w.memory.find({"/x/a", "/x/b"});
    w.memory.response->matches[0].content = "text of a";
    w.llm.say(R"({"matches":[{"id":2,"relevance":1}]})");
    EXPECT_THAT(
        w.json("(get-context-result (query \"q\") (matching_strategy 'metadata))"),
        AllOf(HasSubstr(R"("path":"/x/b")"), Not(HasSubstr("/x/a")), HasSubstr("a model chose 1")));
    EXPECT_THAT(w.sent(1), Not(HasSubstr("text of a")));
    EXPECT_FALSE(w.memory.asked[0].include_content);
}

TEST(model_stage, asks_shards_side_by_side) {
    context_harness w(staged(2));
    w.memory.find({"/x/a", "/x/b", "/x/c", "/x/d", "/x/e"});
    w.llm.delay = std::chrono::milliseconds(50);
    w.llm.say(R"({"matches":[{"id":1,"relevance":0.5}]})");
    EXPECT_EQ(w.json("(get_context (query \"q\"))"), R"(["/x/a","/x/c","/x/e"])");
    EXPECT_EQ(w.llm.asked.size(), 3U);
    EXPECT_EQ(w.llm.max_at_once, 3);
}

TEST(model_stage, ignores_what_is_no_answer) {
    for (const char* response :
         {"no idea", "{\"files\":[]}", "{\"matches\":[{\"id\":9,\"relevance\":1}]}",
          "{\"matches\":[{\"path\":\"/etc/passwd\",\"relevance\":1}]}"}) {
        context_harness w(staged());
        w.memory.find({"/x/a", "/x/b"});
        w.llm.say(response);
        EXPECT_EQ(w.json("(get_context (query \"q\"))"), R"(["/x/a","/x/b"])") << response;
        EXPECT_TRUE(w.log.said("were not chosen by a model")) << response;
    }
}

// The schema of the task refused what its reader could read, and all files were kept.
TEST(model_stage, reads_lists_without_an_object_and_numbers_as_text) {
    for (const char* response :
         {R"(["2"])", R"([2])", R"(["/x/b"])", R"([{"id":"2","relevance":1}])",
          R"([{"path":"/x/b","relevance_score":0.5}])", R"({"matches":["2"]})",
          R"({"matches":[{"id":"2"}]})", R"({"matches":[{"id":"2","relevance":1}]})"}) {
        context_harness w(staged());
        w.memory.find({"/x/a", "/x/b"});
        w.llm.say(response);
        EXPECT_EQ(w.json("(get_context (query \"q\"))"), R"(["/x/b"])") << response;
        EXPECT_FALSE(w.log.said("were not chosen by a model")) << response;
        EXPECT_EQ(w.llm.asked.size(), 1U) << response;
        EXPECT_EQ(w.llm.asked[0].format.type, ports::response_format::kind::json_schema);
    }
}

TEST(model_stage, that_fails_leaves_the_order_of_the_index) {
    context_harness w(staged());
    w.memory.find({"/x/a", "/x/b"});
    w.llm.break_with(ports::llm_errc::overloaded, "the service is down");
    EXPECT_EQ(w.json("(get_context (query \"q\"))"), R"(["/x/a","/x/b"])");
    EXPECT_EQ(w.json("(with ((on-failure 'raise)) (get_context (query \"q\")))"),
              R"(["/x/a","/x/b"])");
    EXPECT_TRUE(w.log.said("the service is down"));
}

TEST(model_stage, may_find_that_nothing_is_needed) {
    context_harness w(staged());
    w.memory.find({"/x/a"});
    w.llm.say(R"({"matches":[]})");
    EXPECT_EQ(w.json("(get_context (query \"q\"))"), "[]");
    w.memory.find({});
    EXPECT_EQ(w.json("(get_context (query \"q\"))"), "[]");
    EXPECT_EQ(w.llm.asked.size(), 1U);
}

TEST(model_stage, is_a_task_that_a_program_may_replace) {
    context_harness w(staged());
    w.memory.find({"/x/a", "/x/b"});
    w.llm.say(R"(["/x/b"])");
    EXPECT_EQ(w.json("(defatom internal:associative_matching_content (params query candidates) "
                     "(instructions \"MINE {{query}}: {{candidates}}\") "
                     "(context_management ((fresh_context enabled))) "
                     "(output_format ((type \"json\")))) (get_context (query \"q\"))"),
              R"(["/x/b"])");
    EXPECT_THAT(w.sent(w.llm.asked.back().messages.size() - 1), StartsWith("MINE q: 1. /x/a"));
    EXPECT_EQ(w.memory.asked.size(), 1U) << "its own context is not looked up";
}

TEST(model_stage, that_wants_more_than_there_is_reports_it) {
    context_harness w(staged());
    w.memory.find({"/x/a"});
    EXPECT_EQ(w.json("(defatom internal:associative_matching_content (params query mood) "
                     "(instructions \"{{query}} {{mood}}\")) (get_context (query \"q\"))"),
              R"(["/x/a"])");
    EXPECT_TRUE(w.log.said("missing input: mood"));
}

TEST(model_stage, chooses_for_fresh_contexts_too_and_warns_in_the_notes) {
    files_harness w(staged());
    w.llm.replies.clear();
    w.memory.find({w.folder.at("a.txt"), w.folder.at("b.txt")});
    w.llm.say(R"({"matches":[{"id":2,"relevance":1},{"id":77,"relevance":1}]})");
    w.llm.say("done");
    EXPECT_THAT(
        w.json("(get-field (ask (q \"why\") (context '((fresh_context enabled)))) \"notes\")"),
        AllOf(HasSubstr("b.txt\"]"), HasSubstr("1 of its entries name no file")));
    EXPECT_EQ(w.llm.asked.size(), 2U);
}

TEST(model_stage, ends_when_the_run_is_cancelled) {
    context_harness w(staged(1));
    w.memory.find({"/x/a", "/x/b", "/x/c"});
    w.llm.delay = std::chrono::hours(1);
    w.llm.say("{}");
    coro::cancel_source cancel;
    host::run_options options;
    options.cancel = &cancel;
    w.runner.later([&] { cancel.request(cancel_reason::user); }, 50);
    EXPECT_THAT(w.json("(get_context (query \"q\"))", options), StartsWith("CancelledError"));
    EXPECT_EQ(w.observer.started, w.observer.finished);
}

} // namespace
} // namespace heddle::tasks
