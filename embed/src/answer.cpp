#include <heddle/answer.hpp>

namespace heddle {

namespace {

const std::string* text_member(const json& of, std::string_view name) {
    const json* found = of.find(name);
    return found ? found->get_if<std::string>() : nullptr;
}

/// The parts of a task result that are always there.
bool is_task_result(const json& value) {
    return text_member(value, "status") && text_member(value, "content") && value.find("notes");
}

} // namespace

json to_json(const usage& used) {
    json::object members;
    members.reserve(8); // at most
    members.set("calls", used.calls);
    members.set("requests", used.requests);
    members.set("input_tokens", used.input_tokens);
    members.set("output_tokens", used.output_tokens);
    if (const auto cost = used.cost_usd()) {
        members.set("cost_usd", *cost);
    } else {
        members.set("cost_usd", nullptr);
        members.set("known_cost_usd", used.known_cost_usd);
        members.set("unpriced", used.unpriced);
    }
    if (used.estimated) members.set("estimated", true);
    return members;
}

usage& usage::operator+=(const usage& other) noexcept {
    calls += other.calls;
    requests += other.requests;
    input_tokens += other.input_tokens;
    output_tokens += other.output_tokens;
    known_cost_usd += other.known_cost_usd;
    unpriced += other.unpriced;
    estimated = estimated || other.estimated;
    return *this;
}

std::string answer::text() const {
    if (const auto* text = value_.get_if<std::string>()) return *text;
    if (value_.is_null()) return {};
    if (is_task_result(value_)) return *text_member(value_, "content");
    return value_.to_string();
}

bool answer::is_failed_result() const noexcept {
    const std::string* status = text_member(value_, "status");
    return status && *status == "FAILED" && is_task_result(value_);
}

json answer::to_json() const {
    json::object members;
    members.reserve(6); // at most
    members.set("value", value_);
    members.set("usage", heddle::to_json(used_));
    members.set("duration_ms", std::chrono::duration<double, std::milli>(duration_).count());
    if (!tag_.empty()) members.set("tag", tag_);
    if (used_before_ != usage()) members.set("used_before", heddle::to_json(used_before_));
    if (is_recorded_) members.set("recorded", true);
    return members;
}

} // namespace heddle
