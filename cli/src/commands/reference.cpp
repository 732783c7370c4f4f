// The pages of docs/reference/language, and the table of settings in docs/reference/templates.md.
#include "application.hpp"
#include "command_line/command.hpp"
#include "report_error.hpp"
#include "settings_table.hpp"

#include <heddle/host/session.hpp>
#include <heddle/lang/help.hpp>
#include <heddle/setup/input_files.hpp>

#include <filesystem>

namespace heddle::cli {

namespace {

struct reference_request {
    std::string directory;
    std::string templates; ///< the page with the table of settings; empty: none is written
};

result<void> write_pages(host::session& session, const std::filesystem::path& directory) {
    HEDDLE_TRY(const auto pages, lang::reference_pages(session.realm()));
    for (const lang::reference_page& page : pages) {
        const std::filesystem::path file = directory / page.file;
        std::error_code failed;
        std::filesystem::create_directories(file.parent_path(), failed);
        if (failed) {
            return error(errc::io_error,
                         file.parent_path().string() + " cannot be made: " + failed.message());
        }
        HEDDLE_CHECK(setup::write_output_file(file.string(), page.text));
    }
    return {};
}

result<void> write_settings(const std::string& file) {
    HEDDLE_TRY(std::string page, setup::read_input_file(file));
    HEDDLE_TRY(const std::string written, with_settings_table(std::move(page)));
    return setup::write_output_file(file, written);
}

} // namespace

static exit_code write_reference(const reference_request& asked, console& output) {
    auto tools = application::create({}, {}, {}, output);
    if (!tools) return report_usage_error(tools.error(), false, output);
    auto session = (*tools)->engine().new_session();
    if (!session) return report_usage_error(session.error(), false, output);
    auto written = write_pages(**session, asked.directory);
    if (written && !asked.templates.empty()) written = write_settings(asked.templates);
    if (!written) {
        return report_error(written.error(), exit_code::failed, false, output);
    }
    return exit_code::done;
}

namespace {

class reference_work final : public command {
public:
    void add_options(option_list& to) override {
        to.argument("DIR", asked_.directory, "Output directory").required();
        to.option("--templates", asked_.templates,
                  "Page whose table of task settings is written too")
            .value("FILE");
    }
    exit_code run(command_context context) override {
        return write_reference(asked_, context.output);
    }

private:
    reference_request asked_;
};

constexpr command_row rows[] = {{
    .name = "reference",
    .summary = "Write the reference of the language",
    .details = R"()",
    .group = command_group::hidden,
    .make = &make_command<reference_work>,
}};

} // namespace

std::span<const command_row> reference_commands() noexcept { return rows; }

} // namespace heddle::cli
