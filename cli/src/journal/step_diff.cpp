#include "journal/step_diff.hpp"

#include "journal/shown_answer.hpp"
#include "sources/digest_text.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/host/row_history.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/ports/response_codec.hpp>
#include <heddle/setup/journal/row_failures.hpp>

#include <boost/json/object.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace heddle::cli {

namespace {

using ports::digest128;
using ports::step_kind;
using ports::step_record;

constexpr std::size_t shown_bytes = 2000; ///< of what a step returned
constexpr std::size_t max_lines = 20;     ///< of a row, for people
/// Long texts that differ late are to differ.
constexpr std::size_t compared_bytes = std::size_t{1} << 20;

struct heap_end {
    void operator()(lang::heap* memory) const noexcept { memory->release_owner(); }
};

/// What a step has asked models for.
struct step_requests {
    std::vector<digest128> all; ///< sorted
    /// What services made up and requests repeat: ids of tool calls, signatures; sorted.
    std::vector<std::string> marks;
    /// What the requests are made of, without those marks; sorted.
    std::vector<std::string> parts;

    /// Requests with other marks have other digests, whatever else they say.
    [[nodiscard]] bool differ(const step_requests& other) const {
        return all != other.all && (marks == other.marks || parts != other.parts);
    }
};

/// Reads the records of a step, in their order.
class request_reader {
public:
    void add_request(const step_record& request) {
        found_.all.push_back(request.content);
        // It begins as the one before it, and goes on with the response to that and its tools.
        for (std::string& each : next_) found_.parts.push_back(std::move(each));
        for (std::string& each : next_marks_) found_.marks.push_back(std::move(each));
        next_.clear();
        next_marks_.clear();
        found_.parts.push_back(found_.marks.empty() ? hex_of(request.content) : "a later request");
        const auto response = ports::decode_response(request.body);
        if (!response) return;
        std::string said = "response " + response->text;
        for (const ports::reasoning_part& each : response->reasoning) {
            said += '\0' + each.text;
            mark(each.signature);
            mark(each.opaque);
        }
        for (const ports::tool_call& each : response->tool_calls) {
            said += '\0' + each.name + '\0' + each.arguments_json;
            mark(each.id);
            mark(each.signature);
        }
        next_.push_back(std::move(said));
    }
    void add_tool(const step_record& tool) {
        next_.push_back("tool " + tool.name + '\0' + tool.body);
    }
    [[nodiscard]] step_requests take() {
        std::sort(found_.all.begin(), found_.all.end());
        std::sort(found_.marks.begin(), found_.marks.end());
        std::sort(found_.parts.begin(), found_.parts.end());
        return std::move(found_);
    }

private:
    void mark(const std::string& text) {
        if (!text.empty()) next_marks_.push_back(text);
    }

    step_requests found_;
    std::vector<std::string> next_; ///< of a further request, if there is one
    std::vector<std::string> next_marks_;
};

struct step_view {
    step_record end;
    step_requests requests;
    std::uint64_t number = 0;
    shown_answer answer;
};

/// The steps of a row, in their order.
std::vector<step_view> steps_of(lang::heap& memory, std::vector<step_record> records) {
    records = host::last_attempt(std::move(records), [&memory](const step_record& step) {
        return setup::failure_of_step(memory, step);
    });
    std::map<digest128, request_reader> requests;
    std::vector<step_view> steps;
    for (step_record& each : records) {
        if (is_response(each)) {
            requests[each.path].add_request(each);
            continue;
        }
        if (each.kind == step_kind::tool) {
            requests[each.path].add_tool(each);
            continue;
        }
        const bool is_step = ends_a_step(each) || each.kind == step_kind::cut;
        if (!is_step) continue;
        step_view step;
        step.answer = answer_of(memory, each, compared_bytes);
        step.end = std::move(each);
        step.number = steps.size() + 1;
        steps.push_back(std::move(step));
    }
    for (step_view& each : steps) {
        const auto found = requests.find(each.end.path);
        if (found != requests.end()) each.requests = found->second.take();
    }
    return steps;
}

step_difference::side side_of(const step_view& step) {
    return {step.number, step.answer.kind, utf8::shortened(step.answer.text, shown_bytes)};
}

step_difference begun_with(const step_view& step) {
    step_difference found;
    found.path = hex_of(step.end.path);
    found.name = step.end.name;
    return found;
}

std::string what_differs(const step_difference& step) {
    if (!step.b) return "only in the first";
    if (!step.a) return "only in the second";
    std::vector<std::string> parts;
    if (step.arguments) parts.emplace_back("arguments");
    if (step.request) parts.emplace_back("request");
    if (step.response) parts.emplace_back("response");
    std::string text = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i)
        text += (i + 1 == parts.size() ? " and " : ", ") + parts[i];
    return text + (parts.size() == 1 && !step.arguments ? " differs" : " differ");
}

boost::json::value json_of(const std::optional<step_difference::side>& side) {
    if (!side) return nullptr;
    boost::json::object members{{"step", side->step}, {"kind", side->kind}};
    if (!side->text.empty()) members["answer"] = side->text;
    return members;
}

} // namespace

std::vector<step_difference> compare_steps(std::vector<step_record> a, std::vector<step_record> b) {
    const std::unique_ptr<lang::heap, heap_end> memory(lang::heap::create());
    const std::vector<step_view> in_a = steps_of(*memory, std::move(a));
    const std::vector<step_view> in_b = steps_of(*memory, std::move(b));
    std::map<digest128, const step_view*> by_path;
    for (const step_view& each : in_b) by_path.emplace(each.end.path, &each);
    std::vector<step_difference> all;
    for (const step_view& each : in_a) {
        step_difference found = begun_with(each);
        found.a = side_of(each);
        const auto place = by_path.find(each.end.path);
        const step_view* other = place == by_path.end() ? nullptr : place->second;
        if (!other || other->end.name != each.end.name) {
            all.push_back(std::move(found)); // what took its place is a step of b alone
            continue;
        }
        by_path.erase(place);
        found.b = side_of(*other);
        found.arguments = other->end.content != each.end.content;
        found.request = each.requests.differ(other->requests);
        found.response =
            other->answer.kind != each.answer.kind || other->answer.text != each.answer.text;
        if (found.arguments || found.request || found.response) all.push_back(std::move(found));
    }
    for (const step_view& each : in_b) {
        if (by_path.find(each.end.path) == by_path.end()) continue;
        step_difference found = begun_with(each);
        found.b = side_of(each);
        all.push_back(std::move(found));
    }
    return all;
}

std::string text_of(const std::vector<step_difference>& steps) {
    std::string text;
    for (std::size_t i = 0; i < std::min(steps.size(), max_lines); ++i) {
        const step_difference& each = steps[i];
        text += "    step " + std::to_string((each.a ? each.a : each.b)->step) + " " +
                utf8::printable_line(each.name) + ": " + what_differs(each) + "\n";
    }
    if (steps.size() > max_lines)
        text += "    … and " + std::to_string(steps.size() - max_lines) + " further steps\n";
    return text;
}

boost::json::array json_of(const std::vector<step_difference>& steps) {
    boost::json::array all;
    for (const step_difference& each : steps) {
        boost::json::array changed;
        if (each.arguments) changed.emplace_back("arguments");
        if (each.request) changed.emplace_back("request");
        if (each.response) changed.emplace_back("response");
        all.push_back(boost::json::object{{"path", each.path},
                                          {"name", each.name},
                                          {"changed", std::move(changed)},
                                          {"a", json_of(each.a)},
                                          {"b", json_of(each.b)}});
    }
    return all;
}

} // namespace heddle::cli
