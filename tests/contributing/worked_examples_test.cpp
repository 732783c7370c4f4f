// The worked examples of docs/contributing work, and are what their pages show.
#include "worked_examples.hpp"

#include "command_line/command_line.hpp"
#include "lang/compile/analyzer_scopes.hpp"
#include "lang/compile/deep_stack.hpp"
#include "lang/compile/generator.hpp"
#include "lang_harness.hpp"

#include <heddle/lang/objects.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <test_paths.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace heddle {
namespace {

namespace fs = std::filesystem;
using lang::testing::lang_harness;
using ::testing::HasSubstr;

// ---------------------------------------------------------------- pages

fs::path in_project(const char* path) { return fs::path(test_paths::source_folder()) / path; }

std::string text_of(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::string> code_blocks_of(const char* page) {
    const std::string text = text_of(in_project(page));
    const std::string opening = "```cpp\n";
    std::vector<std::string> blocks;
    for (std::size_t at = text.find(opening); at != std::string::npos;
         at = text.find(opening, at)) {
        at += opening.size();
        const std::size_t end = text.find("```", at);
        blocks.push_back(text.substr(at, end - at));
        at = end;
    }
    return blocks;
}

/// Each block of the page is a part of the source.
void expect_shown(const char* page, const char* source, std::size_t count) {
    const std::string text = text_of(in_project(source));
    const std::vector<std::string> blocks = code_blocks_of(page);
    EXPECT_EQ(blocks.size(), count) << page;
    for (const std::string& block : blocks)
        EXPECT_NE(text.find(block), std::string::npos)
            << page << " differs from " << source << ":\n"
            << block;
}

/// The two sides of an example: expression and value.
std::pair<std::string, std::string> sides_of(std::string_view example) {
    const std::size_t arrow = example.find(" => ");
    EXPECT_NE(arrow, std::string_view::npos) << example;
    return {std::string(example.substr(0, arrow)), std::string(example.substr(arrow + 4))};
}

// ---------------------------------------------------------------- a builtin

/// A program can call the rows as functions of their names.
void define_builtins(lang_harness& harness) {
    lang::realm& in = harness.harness;
    for (const lang::builtin& row : lang::example_builtins())
        in.change_global(in.global_index(row.name)) = lang::value::of_builtin(row);
}

TEST(worked_examples, the_builtin_is_called) {
    lang_harness harness;
    define_builtins(harness);
    ASSERT_EQ(lang::example_builtins().size(), 1U);
    const auto [call, expected] = sides_of(lang::example_builtins().front().example);
    EXPECT_EQ(harness.shown(call), harness.shown(expected));
    EXPECT_EQ(harness.shown("(list-last '(1 2 3))"), "3");
    EXPECT_EQ(harness.shown("(list-last '())"), "nil");
    EXPECT_EQ(harness.shown("(list-last \"abc\")"),
              "TypeError: list-last: argument 1 must be a list, not the string \"abc\"");
    EXPECT_EQ(harness.shown("(list-last '(1) '(2))"),
              "ArityError: list-last expects 1 argument, got 2");
}

TEST(worked_examples, the_builtin_is_what_its_page_shows) {
    expect_shown("docs/contributing/adding-a-builtin.md", "tests/contributing/list_last.cpp", 2);
}

// ---------------------------------------------------------------- a special form

const lang::special_form& swap_row() { return lang::example_forms().front(); }

bool is_swap(const lang::form& f) {
    return f.is_list() && f.size() != 0 && f[0].is_symbol() && f[0].name() == swap_row().name;
}

/// As the form `let`. But the table of forms, which the analyzer asks, has no row of an example:
/// the parts of the body that are such a form are analysed here.
lang::ast::node* let_with_swap(lang::analyzer& a, const lang::form& f) {
    lang::ast::node* result = a.make(lang::ast::node_kind::scope, f.span);
    const lang::form bindings = f[1];
    for (std::size_t i = 0; i < bindings.size(); ++i)
        result->children.push_back(a.expression(bindings[i][1], a.inner()));
    lang::scope own;
    const lang::analyzer::scope_guard guard(a, own);
    for (std::size_t i = 0; i < bindings.size(); ++i) {
        lang::ast::variable* var = a.declare(bindings[i][0].name());
        var->definite = var->bound_once = true;
        result->variables.push_back(var);
    }
    a.declare_binds(f, 2);
    lang::ast::node* body = a.make(lang::ast::node_kind::sequence, f.span);
    for (std::size_t i = 2; i < f.size(); ++i) {
        body->children.push_back(is_swap(f[i]) ? swap_row().analyse(a, f[i], a.inner())
                                               : a.expression(f[i], a.inner()));
    }
    result->children.push_back(body);
    return a.with_scope(own, result, bindings.size());
}

/// The code of a (let …) in whose body the form may be.
result<lang::function_ref> compiled(lang::realm& in, const std::string& text) {
    const std::uint32_t position = in.sources().add("test", text);
    const auto forms = lang::read_all(in.memory(), text, position);
    if (!forms) return forms.error();
    lang::compile_request request;
    lang::ast::arena arena;
    lang::analyzer analysis(in, arena, request, lang::comfortable_depth);
    const auto top = analysis.program({}); // of no forms: they come now
    if (!top) return top.error();
    (*top)->body = let_with_swap(analysis, {forms->front().content, forms->front().span});
    if (analysis.failed()) return analysis.program({}).error();
    return lang::generator(in, **top, nullptr, &analysis.work(), false).run();
}

/// What harness.shown() returns for such a (let …).
std::string shown(lang_harness& harness, const std::string& text,
                  const lang::testing::schedule& how = {}) {
    lang::realm& in = harness.harness;
    const auto code = compiled(in, text);
    if (!code) return "not compiled: " + code.error().message();
    const auto sound = verify(**code, in.global_count());
    EXPECT_TRUE(sound) << sound.error().message();
    in.change_global(in.global_index("compiled")) = make_closure(in.memory(), **code, 0);
    return harness.shown("(compiled)", how);
}

TEST(worked_examples, the_special_form_runs) {
    lang_harness harness;
    ASSERT_EQ(lang::example_forms().size(), 1U);
    const auto [form, expected] = sides_of(swap_row().example);
    EXPECT_EQ(shown(harness, form), harness.shown(expected));
    EXPECT_EQ(shown(harness, "(let ((x 1) (y 2)) (swap! x y) (list x y))"), "(2 1)");
    EXPECT_EQ(shown(harness, "(let ((x 1)) (swap! x x) x)"), "1");
    lang::testing::schedule how;
    how.slice = 1;
    EXPECT_EQ(shown(harness, "(let ((x 1) (y 2) (z 3)) (swap! x y) (swap! y z) (list x y z))", how),
              "(2 3 1)");
}

TEST(worked_examples, the_special_form_reaches_variables_of_all_kinds) {
    lang_harness harness;
    // of a function that was made before
    EXPECT_EQ(shown(harness, "(let ((x 1) (y 2)) (define (both) (list x y)) (swap! x y) (both))"),
              "(2 1)");
    // of the program
    harness.run("(define g 1) (define h 2)");
    EXPECT_EQ(shown(harness, "(let ((x 0)) (swap! g h) (swap! x g) (list x g h))"), "(2 0 1)");
    EXPECT_EQ(harness.shown("(list g h)"), "(0 1)");
    // that evaluated code has bound
    EXPECT_EQ(shown(harness, "(let ((x 1)) (eval '(bind k 2)) (swap! x k) (list x k))"), "(2 1)");
}

TEST(worked_examples, the_special_form_refuses_other_operands) {
    lang_harness harness;
    EXPECT_EQ(shown(harness, "(let ((x 1)) (swap! x))"),
              "not compiled: swap!: expects 2 names, got 1");
    EXPECT_EQ(shown(harness, "(let ((x 1)) (swap! x 5))"),
              "not compiled: swap!: a variable must be a symbol, not 5");
    EXPECT_EQ(shown(harness, "(let ((x 1)) (swap! x nowhere))"),
              "UnboundSymbolError: unbound symbol 'nowhere'");
}

TEST(worked_examples, the_special_form_is_what_its_page_shows) {
    expect_shown("docs/contributing/adding-a-special-form.md", "tests/contributing/swap.cpp", 2);
}

// ---------------------------------------------------------------- a command

using file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::string written_to(std::FILE* of) {
    std::rewind(of);
    std::string text(4096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), of));
    return text;
}

struct ended {
    cli::exit_code code = cli::exit_code::done;
    std::string out;
    std::string err;
};

/// As the program does, with one command more.
ended run(std::vector<std::string> arguments) {
    const auto program = cli::all_commands();
    std::vector<const cli::command_row*> rows(program.begin(), program.end());
    for (const cli::command_row& row : cli::count_commands()) rows.push_back(&row);
    cli::command_line line(rows);
    const auto parsed = line.parse(std::move(arguments), 100);
    if (const auto* early = std::get_if<cli::early_end>(&parsed)) {
        const bool done = early->code == cli::exit_code::done;
        return {early->code, done ? early->text : "", done ? "" : early->text};
    }
    const file out(std::tmpfile(), &std::fclose);
    const file err(std::tmpfile(), &std::fclose);
    const setup::environment variables;
    ended result;
    {
        cli::console output(out.get(), err.get(), {});
        result.code = std::get<cli::command*>(parsed)->run({variables, output, line});
        EXPECT_TRUE(output.flush());
    }
    result.out = written_to(out.get());
    result.err = written_to(err.get());
    return result;
}

TEST(worked_examples, the_command_counts) {
    const fs::path own = in_project("tests/contributing/count.cpp");
    const std::size_t bytes = fs::file_size(own);
    const ended one = run({"count", own.string()});
    EXPECT_EQ(one.code, cli::exit_code::done) << one.err;
    EXPECT_EQ(one.out, std::to_string(bytes) + "\n");
    const ended two = run({"count", own.string(), own.string(), "--json"});
    EXPECT_EQ(two.code, cli::exit_code::done) << two.err;
    EXPECT_EQ(two.out, "{\"bytes\":" + std::to_string(2 * bytes) + "}\n");
}

TEST(worked_examples, the_command_refuses_mistakes) {
    const ended none = run({"count", in_project("tests/contributing/none").string()});
    EXPECT_EQ(none.code, cli::exit_code::usage);
    EXPECT_THAT(none.err, HasSubstr("tests/contributing/none"));
    EXPECT_EQ(run({"count"}).code, cli::exit_code::usage);
    EXPECT_THAT(run({"count", "--help"}).out, HasSubstr("Count the bytes of files"));
    EXPECT_THAT(run({"--help"}).out, HasSubstr("Count the bytes of files"));
}

TEST(worked_examples, the_command_is_what_its_page_shows) {
    const char* page = "docs/contributing/adding-a-command.md";
    const auto blocks = code_blocks_of(page);
    ASSERT_EQ(blocks.size(), 1U);
    EXPECT_EQ(blocks.front(), text_of(in_project("tests/contributing/count.cpp"))) << page;
}

} // namespace
} // namespace heddle
