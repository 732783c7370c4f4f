#include "batch/steering/run_steering.hpp"

#include "batch/request/run_manifest.hpp"
#include "batch/steering/run_control.hpp"
#include "report_error.hpp"

#include <heddle/base/json_parser.hpp>
#include <heddle/setup/json_line.hpp>

#include <boost/json/object.hpp>

namespace heddle::cli {

namespace json = boost::json;

exit_code steer_run(const std::string& run, const json::object& request, bool as_json,
                    console& output) {
    const auto folder = find_going_run(run);
    if (!folder) return report_usage_error(folder.error(), as_json, output);
    if (const auto about = read_manifest(*folder); about && about->is_single()) {
        return report_usage_error(
            error(errc::invalid_argument, "the run in " + *folder + " is not a batch")
                .with_hint("Ctrl-C or SIGTERM ends its process; the same command continues it"),
            as_json, output);
    }
    const auto response = ask_open_run(*folder, setup::json_text(request));
    if (!response) return report_error(response.error(), exit_code::failed, as_json, output);
    boost::system::error_code wrong;
    json::value parsed = parse_json(*response, wrong);
    const json::value* line =
        !wrong && parsed.is_object() ? parsed.get_object().if_contains("line") : nullptr;
    const json::value* refused =
        !wrong && parsed.is_object() ? parsed.get_object().if_contains("message") : nullptr;
    if (refused && refused->is_string()) {
        return report_usage_error(error(errc::invalid_argument, std::string(refused->get_string())),
                                  as_json, output);
    }
    if (as_json && !wrong && parsed.is_object()) {
        parsed.get_object().erase("line"); // the progress in words
        output.out_data(setup::json_line(parsed));
    } else if (line && line->is_string()) {
        output.out(std::string(line->get_string()) + "\n");
    }
    return exit_code::done;
}

} // namespace heddle::cli
