// `heddle dump`
#include "command_line/command.hpp"
#include "offline_session.hpp"
#include "report_error.hpp"
#include "source_diagnostics.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/lang/dump.hpp>
#include <heddle/setup/input_files.hpp>
#include <heddle/setup/json_line.hpp>

namespace heddle::cli {

namespace {

enum class dump_kind : std::uint8_t { ast, ir };

struct dump_request {
    std::string file; ///< "-": standard input
    dump_kind what = dump_kind::ast;
    bool json = false;
};

exit_code dump_program(const dump_request& asked, console& output) {
    auto text = setup::read_input_file(asked.file);
    if (!text) return report_usage_error(text.error(), asked.json, output);
    auto session = offline_session::create();
    if (!session) return report_usage_error(session.error(), asked.json, output);
    lang::realm& realm = (*session)->realm();
    const std::uint32_t position =
        realm.sources().add(asked.file == "-" ? "<stdin>" : asked.file, *text);
    const auto format = asked.json ? lang::dump_format::json : lang::dump_format::text;
    const auto result = asked.what == dump_kind::ast
                            ? lang::dump_ast(realm, *text, position, format)
                            : lang::dump_code(realm, *text, position, format);
    if (!result) {
        return report_source_error(result.error(), realm.sources(), asked.json, output);
    }
    output.out(format == lang::dump_format::json ? setup::json_line(ascii::trim(*result))
                                                 : *result);
    return exit_code::done;
}

class dump_work : public command {
public:
    explicit dump_work(dump_kind what) { asked_.what = what; }
    void add_options(option_list& to) override {
        to.argument("FILE", asked_.file, "The program; - for standard input").required();
        to.flag("--json", asked_.json,
                asked_.what == dump_kind::ast ? "Print the tree as one JSON object"
                                              : "Print the instructions as one JSON object");
    }
    exit_code run(command_context context) override { return dump_program(asked_, context.output); }

private:
    dump_request asked_;
};

class dump_ast_work final : public dump_work {
public:
    dump_ast_work() : dump_work(dump_kind::ast) {}
};

class dump_ir_work final : public dump_work {
public:
    dump_ir_work() : dump_work(dump_kind::ir) {}
};

constexpr command_row rows[] = {
    {.name = "dump",
     .summary = "Show the compiled form of a program",
     .details =
         R"(Nothing is run. 'ast' shows each node with its span and each name with its location; 'ir' shows the
instructions that the machine runs.

Examples:
  heddle dump ast review.heddle
  heddle dump ir review.heddle)",
     .group = command_group::write},
    {.name = "dump ast",
     .summary = "Show the resolved program as a tree",
     .details = {},
     .group = command_group::write,
     .make = &make_command<dump_ast_work>},
    {.name = "dump ir",
     .summary = "Show the instructions of the machine",
     .details = {},
     .group = command_group::write,
     .make = &make_command<dump_ir_work>},
};

} // namespace

std::span<const command_row> dump_commands() noexcept { return rows; }

} // namespace heddle::cli
