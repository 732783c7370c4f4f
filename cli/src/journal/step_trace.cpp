#include "journal/step_trace.hpp"

#include "batch/progress/batch_counts.hpp"
#include "journal/shown_answer.hpp"
#include "json_or_text.hpp"
#include "sources/digest_text.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/parse_number.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/json_line.hpp>

#include <boost/json/object.hpp>

#include <algorithm>
#include <cstdio>

namespace heddle::cli {

namespace {

constexpr std::size_t shown_bytes = 200;     // of an answer, in a line for people
constexpr std::size_t exported_bytes = 2000; // in JSON
constexpr std::size_t path_digits = 12;      // enough to tell the steps of a row apart

std::string usage_of(const ports::step_spending& spent) {
    std::string text;
    if (spent.requests != 0) {
        text = setup::counted(spent.requests, "request") + ", " +
               setup::grouped(spent.input_tokens) + " tokens in, " +
               setup::grouped(spent.output_tokens) + " out";
    }
    if (const std::string cost = setup::dollars(spent.cost_usd); !cost.empty()) text += ", " + cost;
    else if (spent.unpriced != 0) text += ", cost unknown";
    return text;
}

} // namespace

step_trace::step_trace(const replay_request& asked, console& output)
    : json_(asked.json), output_(output) {
    if (!asked.until) return;
    const std::string& text = *asked.until;
    const auto number = parse_number<std::uint64_t>(text);
    if (number && text.size() < path_digits) until_step_ = *number;
    else until_path_ = text;
}

std::optional<std::string> step_trace::problem_of_until(const std::string& text) {
    const auto is_of_path = [](char c) { return ascii::hex_value(c) >= 0 && !ascii::is_upper(c); };
    const bool hex =
        !text.empty() && text.size() <= 32 && std::all_of(text.begin(), text.end(), is_of_path);
    const bool is_number = ascii::is_all_digits(text) && text != "0";
    if (hex && (text.size() >= path_digits || is_number)) return std::nullopt;
    return "--until takes the number of a step, from 1, or at least " +
           std::to_string(path_digits) + " digits of its path, not '" + text + "'";
}

bool step_trace::is_wanted(const std::string& path) const {
    if (until_step_) return steps_ == *until_step_;
    return !until_path_.empty() && path.starts_with(until_path_);
}

void step_trace::show(const ports::step_record& record) {
    if (has_come_) return;
    if (++steps_ == 1 && !json_) output_.out("step  path          time       kind        name\n");
    const std::string path = hex_of(record.path);
    const shown_answer answer =
        answer_of(session_->memory(), record, json_ ? exported_bytes : shown_bytes);
    if (json_) {
        boost::json::object line{{"step", steps_},
                                 {"path", path},
                                 {"kind", answer.kind},
                                 {"name", record.name},
                                 {"seconds", record.at},
                                 {"requests", record.spent.requests},
                                 {"input_tokens", record.spent.input_tokens},
                                 {"output_tokens", record.spent.output_tokens},
                                 {"cost_usd", setup::rounded_usd(record.spent.cost_usd)}};
        if (record.spent.unpriced != 0) line["cost_usd"] = nullptr;
        if (!answer.text.empty()) line["answer"] = answer.text;
        output_.out_data(setup::json_line(line));
    } else {
        char text[80];
        std::snprintf(text, sizeof text, "%4llu  %s  %8.3f s  %-10s  ",
                      static_cast<unsigned long long>(steps_), path.substr(0, path_digits).c_str(),
                      record.at, answer.kind.c_str());
        std::string line = text + utf8::printable_line(record.name);
        if (const std::string usage = usage_of(record.spent); !usage.empty())
            line += "  (" + usage + ")";
        if (!answer.text.empty()) line += "  " + utf8::printable_line(answer.text);
        const unsigned columns = output_.traits().out_is_terminal ? output_.columns() : 0;
        output_.out((columns == 0 ? line : setup::cut_to_width(line, columns)) + "\n");
    }
    if (!is_wanted(path)) return;
    has_come_ = true;
    run_->request(cancel_reason::user);
}

bool step_trace::end(const replay_end& how) const {
    const bool asked_for_more = (until_step_ || !until_path_.empty()) && !has_come_;
    std::string what = "done";
    if (has_come_) what = "until";
    else if (!how.missing.empty()) what = "not recorded";
    else if (how.row.error_json) what = "failed";
    const bool is_whole = what != "not recorded" && !how.differs;
    const bool reached = what == "until" || (!asked_for_more && is_whole);
    std::string message;
    if (what == "not recorded") message = "the journal ends here: not recorded is " + how.missing;
    else if (what == "failed") message = how.row.message;
    if (asked_for_more && what != "not recorded")
        message += std::string(message.empty() ? "" : "; ") + "there is no such step";
    if (json_) {
        boost::json::object line{{"end", what}, {"steps", steps_}};
        if (what == "done" && how.row.value_json) line["value"] = json_or_text(*how.row.value_json);
        if (what == "failed" && how.row.error_json)
            line["error"] = json_or_text(*how.row.error_json);
        if (!message.empty()) line["message"] = message;
        output_.out_data(setup::json_line(line));
        return reached;
    }
    if (what == "done" && how.row.value_json)
        output_.out("value: " + utf8::shortened(*how.row.value_json, 4000) + "\n");
    if (what == "failed") output_.out("failed: " + message + "\n");
    else if (!message.empty()) output_.err("heddle: " + message + "\n");
    return reached;
}

} // namespace heddle::cli
