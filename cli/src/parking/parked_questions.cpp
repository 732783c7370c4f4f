#include "parking/parked_questions.hpp"

#include <heddle/base/parse_number.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/ports/step_memory.hpp>
#include <heddle/rows/row.hpp>
#include <heddle/setup/json_line.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace heddle::cli {

namespace {

namespace json = boost::json;

constexpr std::string_view question_name = record_of_question;
constexpr std::string_view answer_name = "answer to a question";

ports::digest128 key_of(std::string_view name, const std::string& text) {
    return rows::digest_of_content(std::string(name) + ":" + text);
}

std::string text_of(const tasks::user_question& asked) {
    json::object members{{"question", asked.text}};
    if (!asked.choices.empty())
        members["choices"] = json::array(asked.choices.begin(), asked.choices.end());
    if (asked.fallback) members["default"] = *asked.fallback;
    return setup::json_text(members);
}

tasks::user_question question_in(const std::string& text) {
    tasks::user_question asked;
    boost::system::error_code wrong;
    const json::value parsed = json::parse(text, wrong);
    if (wrong || !parsed.is_object()) return asked;
    const json::object& members = parsed.get_object();
    if (const json::value* found = members.if_contains("question"); found && found->is_string())
        asked.text = found->get_string();
    if (const json::value* found = members.if_contains("choices"); found && found->is_array()) {
        for (const json::value& each : found->get_array()) {
            if (each.is_string()) asked.choices.emplace_back(each.get_string());
        }
    }
    if (const json::value* found = members.if_contains("default"); found && found->is_string())
        asked.fallback = std::string(found->get_string());
    return asked;
}

coro::task<result<std::string>> ask_later(tasks::user_question asked, coro::call_context context) {
    if (!context.step) {
        co_return error(lang::errc::permission, "system:ask_user: nobody can answer here")
            .with_hint(
                "leave out --no-journal: with a journal, the row waits for an answer "
                "('heddle runs answer')");
    }
    const std::string text = text_of(asked);
    const ports::digest128 key = key_of(question_name, text);
    const std::optional<ports::kept_part> asked_before = co_await context.step->take(key, context);
    std::optional<ports::kept_part> answer =
        co_await context.step->take(key_of(answer_name, text), context);
    if (answer) co_return std::move(answer->body);
    if (!context.step->may_ask()) {
        error stop = co_await context.step->refused(context);
        co_return stop;
    }
    if (!asked_before) {
        result<void> kept =
            co_await context.step->keep(key, std::string(question_name), text, {}, context);
        if (!kept) co_return std::move(kept).error();
    }
    co_await context.step->park(context);
    if (auto stop = context.stop_error()) co_return *std::move(stop);
    co_return error::cancelled(cancel_reason::shutdown);
}

} // namespace

tasks::user_port parked_questions() {
    return [](tasks::user_question asked, coro::call_context context) {
        return ask_later(std::move(asked), context);
    };
}

std::vector<kept_question> open_questions(const std::vector<ports::step_record>& records) {
    // In their order: a step that is repeated asks again after its end.
    std::vector<kept_question> open;
    for (const ports::step_record& each : records) {
        if (ends_a_step(each)) {
            std::erase_if(open,
                          [&](const kept_question& asked) { return asked.path == each.path; });
        } else if (is_response(each) && each.name == question_name) {
            open.push_back({each.path, question_in(each.body), each.body});
        } else if (is_response(each) && each.name == answer_name) {
            const auto answered =
                std::find_if(open.begin(), open.end(), [&](const kept_question& asked) {
                    return asked.path == each.path &&
                           key_of(answer_name, asked.text) == each.content;
                });
            if (answered != open.end()) open.erase(answered);
        }
    }
    return open;
}

std::optional<std::string> answer_in(const tasks::user_question& asked, const std::string& text) {
    if (text.empty() && asked.fallback) return asked.fallback;
    if (asked.choices.empty()) return text;
    if (std::find(asked.choices.begin(), asked.choices.end(), text) != asked.choices.end())
        return text;
    const auto number = parse_number<std::size_t>(text);
    if (!number || *number < 1 || *number > asked.choices.size()) return std::nullopt;
    return asked.choices[*number - 1];
}

ports::step_record record_of_answer(const kept_question& question, std::string answer) {
    ports::step_record record;
    record.kind = ports::step_kind::request;
    record.path = question.path;
    record.content = key_of(answer_name, question.text);
    record.name = answer_name;
    record.body = std::move(answer);
    return record;
}

} // namespace heddle::cli
