#include "tasks/run/result_notes.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>

namespace heddle::tasks {

namespace {

constexpr std::size_t max_noted_calls = 1000;

} // namespace

void result_notes::add_warnings(const std::vector<std::string>& further) {
    for (const std::string& each : further) {
        if (std::find(warnings_.begin(), warnings_.end(), each) == warnings_.end())
            warnings_.push_back(each);
    }
}

void result_notes::responded(const ports::chat_response& response) {
    answered_ = true;
    finish_ = response.finish;
    model_ = response.model;
    provider_ = response.provider;
}

void result_notes::add_tool(std::string_view name, bool succeeded, std::chrono::nanoseconds took) {
    if (tools_.is_nil()) tools_ = lang::value::empty_list();
    if (tools_.length() >= max_noted_calls) return;
    const std::chrono::duration<double, std::milli> ms = took;
    tools_ = lang::list_push_back(memory_, std::move(tools_),
                                  results_.make_details({{"name", lang::make_string(memory_, name)},
                                                         {"ok", lang::value::boolean(succeeded)},
                                                         {"ms", lang::value::real(ms.count())}}));
}

void result_notes::describe(task_ending& end) const {
    if (!model_.empty()) end.model = model_;
    if (!provider_.empty()) end.provider = provider_;
    end.finish = finish_;
    end.answered = answered_;
    end.warnings = &warnings_;
}

lang::value result_notes::with_warnings(lang::value result) const {
    const lang::value* notes =
        result.is(lang::kind::map) ? lang::map_find(result, "notes") : nullptr;
    if (warnings_.empty() || !notes || !notes->is(lang::kind::map)) return result;
    lang::value list = lang::value::empty_list();
    const auto add = [&](lang::value text) {
        list = lang::list_push_back(memory_, std::move(list), std::move(text));
    };
    for (const std::string& each : warnings_) add(lang::make_string(memory_, each));
    const lang::value* own = lang::map_find(*notes, "warnings");
    if (own && own->is(lang::kind::list)) {
        for (const lang::value& each : lang::list_items(*own)) {
            const bool known = each.is(lang::kind::string) &&
                               std::find(warnings_.begin(), warnings_.end(),
                                         lang::string_bytes(each)) != warnings_.end();
            if (!known) add(each);
        }
    }
    lang::value extended = lang::map_put(memory_, *notes, "warnings", std::move(list));
    return lang::map_put(memory_, std::move(result), "notes", std::move(extended));
}

lang::value result_notes::further() const {
    if (tools_.is_nil()) return further_;
    lang::value entries = further_.is_nil() ? lang::value::empty_map() : further_;
    return lang::map_put(memory_, std::move(entries), "tool_calls", tools_);
}

} // namespace heddle::tasks
