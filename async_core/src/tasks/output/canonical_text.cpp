#include "tasks/output/canonical_text.hpp"

#include "tasks/output/schema_constraints.hpp"
#include "tasks/output/schema_number.hpp"

#define VALIJSON_USE_EXCEPTIONS 1
#include <valijson/internal/adapter.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace heddle::tasks {

namespace {

using valijson::adapters::Adapter;

void append_array(std::string& out, const Adapter& target) {
    out += '[';
    target.applyToArray([&](const Adapter& element) {
        append_canonical(out, element);
        out += ',';
        return true;
    });
    out += ']';
}

void append_object(std::string& out, const Adapter& target) {
    std::vector<std::string> members;
    target.applyToObject([&](const std::string& name, const Adapter& item) {
        check_effort::take(name.size() / copied_in_a_step);
        std::string member = std::to_string(name.size()) + ":" + name;
        append_canonical(member, item);
        member += ','; // a number does not say where it ends
        members.push_back(std::move(member));
        return true;
    });
    std::sort(members.begin(), members.end(), counted_less);
    out += '{';
    for (const std::string& member : members) out += member;
    out += '}';
}

} // namespace

bool counted_less(const std::string& one, const std::string& other) {
    check_effort::spend(4);
    return one < other;
}

void append_canonical(std::string& out, const Adapter& target) {
    check_effort::take(1);
    if (target.isArray()) {
        append_array(out, target);
    } else if (target.isObject()) {
        append_object(out, target);
    } else if (target.isString()) {
        const std::string text = target.asString();
        check_effort::take(text.size() / copied_in_a_step);
        out += 's' + std::to_string(text.size()) + ':' + text;
    } else if (target.isNumber()) {
        out += schema_number::of(target).text();
    } else {
        out += target.isNull() ? 'n' : target.asBool() ? 't' : 'f';
    }
}

} // namespace heddle::tasks
