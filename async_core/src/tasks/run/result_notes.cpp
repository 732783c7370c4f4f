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

lang::value result_notes::further() const {
    if (tools_.is_nil()) return further_;
    lang::value entries = further_.is_nil() ? lang::value::empty_map() : further_;
    return lang::map_put(memory_, std::move(entries), "tool_calls", tools_);
}

} // namespace heddle::tasks
