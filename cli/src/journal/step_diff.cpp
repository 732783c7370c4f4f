#include "journal/step_diff.hpp"

#include "batch/run_identity.hpp"
#include "journal/shown_answer.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/host/row_history.hpp>
#include <heddle/lang/heap.hpp>
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

struct step_view {
    step_record end;
    std::vector<digest128> requests; ///< sorted
    std::uint64_t number = 0;
    shown_answer answer;
};

/// The steps of a row, in their order.
std::vector<step_view> steps_of(lang::heap& memory, std::vector<step_record> records) {
    records = host::last_attempt(std::move(records), [&memory](const step_record& step) {
        return setup::failure_of_step(memory, step);
    });
    std::map<digest128, std::vector<digest128>> requests;
    std::vector<step_view> steps;
    for (step_record& each : records) {
        if (each.kind == step_kind::request || each.kind == step_kind::reused) {
            requests[each.path].push_back(each.content);
            continue;
        }
        const bool is_step = each.kind == step_kind::answer || each.kind == step_kind::composed ||
                             each.kind == step_kind::cut;
        if (!is_step) continue;
        step_view step;
        step.answer = answer_of(memory, each, compared_bytes);
        step.end = std::move(each);
        step.number = steps.size() + 1;
        steps.push_back(std::move(step));
    }
    for (step_view& each : steps) {
        const auto found = requests.find(each.end.path);
        if (found == requests.end()) continue;
        each.requests = found->second;
        std::sort(each.requests.begin(), each.requests.end());
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
        found.request = other->requests != each.requests;
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
