// `heddle count`
#include "command_line/command.hpp"
#include "report_error.hpp"

#include <heddle/setup/input_files.hpp>

namespace heddle::cli {

namespace {

class count_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("FILE", files_, "Files to count; - for standard input").required();
        to.flag("--json", json_, "Print one JSON object on standard output");
    }
    exit_code run(command_context context) override {
        std::size_t bytes = 0;
        for (const std::string& file : files_) {
            const auto text = setup::read_input_file(file);
            if (!text) return report_usage_error(text.error(), json_, context.output);
            bytes += text->size();
        }
        const std::string number = std::to_string(bytes);
        context.output.out_data(json_ ? "{\"bytes\":" + number + "}\n" : number + "\n");
        return exit_code::done;
    }

private:
    std::vector<std::string> files_;
    bool json_ = false;
};

constexpr command_row rows[] = {{
    .name = "count",
    .summary = "Count the bytes of files",
    .details = R"(Examples:
  heddle count *.heddle)",
    .group = command_group::other,
    .make = &make_command<count_work>,
}};

} // namespace

std::span<const command_row> count_commands() noexcept { return rows; }

} // namespace heddle::cli
