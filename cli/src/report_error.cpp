#include "report_error.hpp"

#include "interrupts.hpp"
#include "render.hpp"

#include <heddle/base/diagnostic.hpp>
#include <heddle/base/source.hpp>
#include <heddle/scripted/engine.hpp>
#include <heddle/setup/config/config_file.hpp>
#include <heddle/setup/json_line.hpp>
#include <heddle/tasks/template_files/template_report.hpp>

#include <boost/json/parse.hpp>

namespace heddle::cli {

namespace {

/// The whole of what is wrong with task templates, or null.
const tasks::template_report* failure_report(const error& failure) {
    return dynamic_cast<const tasks::template_report*>(failure.info().payload.get());
}

} // namespace

exit_code report_usage_error(const error& failure, bool json, console& output) {
    return report_error(failure, exit_code::usage, json, output);
}

exit_code report_error(const error& failure, exit_code code, bool json, console& output) {
    const source_map no_sources;
    if (json) end_is_reported(); // one object, also when a signal comes now
    if (json && failure_report(failure)) {
        boost::json::value report = boost::json::parse(failure_report(failure)->json());
        if (report.is_object()) report.get_object()["exit_code"] = static_cast<int>(code);
        output.err_data(setup::json_line(report));
        return code;
    }
    if (json) {
        output.err_data(render_error_json(failure, no_sources, code, {}));
        return code;
    }
    if (code == exit_code::interrupted) {
        output.err("interrupted\n");
        return code;
    }
    const auto* settings = dynamic_cast<const setup::config_report*>(failure.info().payload.get());
    if (settings) {
        for (const std::string& line : settings->lines) output.err(line + "\n");
        return code;
    }
    const auto* rules = dynamic_cast<const scripted::rules_report*>(failure.info().payload.get());
    if (rules) {
        output.err(rules->text()); // every mistake with its file and place
        return code;
    }
    diagnostic_style style;
    style.colour = output.err_in_colour();
    if (const tasks::template_report* templates = failure_report(failure)) {
        output.err_styled(templates->text(style));
        return code;
    }
    output.err_styled(render_diagnostic("heddle", failure, no_sources, style));
    return code;
}

} // namespace heddle::cli
