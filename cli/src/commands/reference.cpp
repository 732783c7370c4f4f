// The pages of docs/reference/language.
#include "commands/commands.hpp"
#include "commands/evaluation.hpp"
#include "input_files.hpp"
#include "wiring.hpp"

#include <heddle/host/session.hpp>
#include <heddle/lang/help.hpp>

#include <filesystem>

namespace heddle::cli {

namespace {

result<void> write_pages(host::session& world, const std::filesystem::path& directory) {
    HEDDLE_TRY(const auto pages, lang::reference_pages(world.world()));
    for (const lang::reference_page& page : pages) {
        const std::filesystem::path file = directory / page.file;
        std::error_code failed;
        std::filesystem::create_directories(file.parent_path(), failed);
        if (failed) {
            return error(errc::io_error,
                         file.parent_path().string() + " cannot be made: " + failed.message());
        }
        HEDDLE_CHECK(write_output_file(file.string(), page.text));
    }
    return {};
}

} // namespace

exit_code write_reference(const reference_request& asked, console& output) {
    auto tools = workshop::create({}, {}, {}, output);
    if (!tools) return tell_usage_error(tools.error(), false, output);
    auto world = (*tools)->engine().new_session();
    if (!world) return tell_usage_error(world.error(), false, output);
    const auto written = write_pages(**world, asked.directory);
    if (!written) {
        return tell_error(written.error(), exit_code::failed, false, output);
    }
    return exit_code::done;
}

} // namespace heddle::cli
