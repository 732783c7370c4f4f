#include <heddle/tasks/output/task_error.hpp>

#include <heddle/base/ascii.hpp>
#include <heddle/base/number_text.hpp>
#include <heddle/base/parse_number.hpp>
#include <heddle/base/utf8.hpp>

#include "tasks/output/finite_json.hpp"
#include "tasks/output/xml_text.hpp"
#include "tasks/template_files/element_reading.hpp"
#include "tasks/template_files/xml_tree.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace heddle::tasks {

namespace {

namespace json = boost::json;

[[nodiscard]] std::string element(std::string_view name, std::string_view text) {
    std::string out = "<" + std::string(name) + ">";
    out += xml_escaped(text);
    return out + "</" + std::string(name) + ">";
}

/// The parts in the order of the schema: what comes before the message, and what after it.
struct parts_writer {
    std::string before;
    std::string after;

    std::string_view operator()(const task_error::resource_exhaustion& what) {
        before = element("resource", what.resource);
        if (what.use) {
            after = "<metrics>" + element("used", number_text(what.use->used)) +
                    element("limit", number_text(what.use->limit)) + "</metrics>";
        }
        return "resource_exhaustion";
    }
    std::string_view operator()(const task_error::failure& what) {
        before = element("reason", to_string(what.reason));
        if (!what.details_json.empty()) {
            after = "<details format=\"json\">" + xml_escaped(what.details_json) + "</details>";
        }
        return "task_failure";
    }
    std::string_view operator()(const task_error::invalid_output& what) {
        after = "<violations>";
        for (const std::string& each : what.violations) after += element("violation", each);
        after += "</violations>";
        return "invalid_output";
    }
    std::string_view operator()(const task_error::validation_error& what) {
        after = element("path", what.path);
        return "validation_error";
    }
    std::string_view operator()(const task_error::xml_parse_error& what) {
        after = element("location", what.location);
        return "xml_parse_error";
    }
};

[[nodiscard]] error unreadable(std::string why) {
    return error(heddle::errc::invalid_argument, "a task error in XML: " + std::move(why));
}

/// Elements as JSON: one with children is an object, any other its text.
[[nodiscard]] json::value as_json(const xml_element& from) {
    if (from.children.empty()) return json::value(from.text);
    json::object members;
    for (const xml_element& child : from.children) members[child.name] = as_json(child);
    return members;
}

class parts_reader {
public:
    explicit parts_reader(const xml_element& from) : from_(from) {}

    result<task_error> read() {
        task_error error;
        HEDDLE_TRY(error.message, text(from_, "message"));
        if (from_.name == "resource_exhaustion") {
            HEDDLE_TRY(error.what, read_exhaustion());
        } else if (from_.name == "task_failure") {
            HEDDLE_TRY(error.what, read_failure());
        } else if (from_.name == "invalid_output") {
            HEDDLE_TRY(error.what, read_violations());
        } else if (from_.name == "validation_error") {
            HEDDLE_TRY(std::string path, text(from_, "path"));
            error.what = task_error::validation_error{std::move(path)};
        } else if (from_.name == "xml_parse_error") {
            HEDDLE_TRY(std::string location, text(from_, "location"));
            error.what = task_error::xml_parse_error{std::move(location)};
        } else return unreadable("<" + from_.name + "> is not a type of error");
        return error;
    }

private:
    [[nodiscard]] static const xml_element* child(const xml_element& from, std::string_view name) {
        for (const xml_element& each : from.children) {
            if (each.name == name) return &each;
        }
        return nullptr;
    }
    [[nodiscard]] static result<std::string> text(const xml_element& from, std::string_view name) {
        const xml_element* found = child(from, name);
        if (!found) return unreadable("<" + from.name + "> has no <" + std::string(name) + ">");
        return found->text;
    }

    [[nodiscard]] static result<double> number(const xml_element& from, std::string_view name) {
        HEDDLE_TRY(const std::string written, text(from, name));
        const auto read = parse_number<double>(ascii::trim(written));
        if (!read) return unreadable("<" + std::string(name) + "> is not a number");
        return *read;
    }

    result<task_error::kind> read_exhaustion() const {
        task_error::resource_exhaustion exhaustion;
        HEDDLE_TRY(exhaustion.resource, text(from_, "resource"));
        if (const xml_element* use = child(from_, "metrics")) {
            HEDDLE_TRY(const double used, number(*use, "used"));
            HEDDLE_TRY(const double limit, number(*use, "limit"));
            exhaustion.use = {used, limit};
        }
        return task_error::kind(std::move(exhaustion));
    }

    result<task_error::kind> read_failure() const {
        task_error::failure created;
        HEDDLE_TRY(const std::string reason, text(from_, "reason"));
        const auto known = task_failure_reason_from(ascii::trim(reason));
        if (!known)
            return unreadable("'" + utf8::shortened(reason, 80) + "' is not a known reason");
        created.reason = *known;
        const xml_element* details = child(from_, "details");
        if (!details) return task_error::kind(std::move(created));
        if (!details->children.empty()) {
            created.details_json = json::serialize(as_json(*details));
            return task_error::kind(std::move(created));
        }
        const auto read = parse_finite_json(details->text);
        if (!read || !read->is_object()) {
            return unreadable("<details> holds neither elements nor a JSON object");
        }
        created.details_json = json::serialize(*read);
        return task_error::kind(std::move(created));
    }

    result<task_error::kind> read_violations() const {
        task_error::invalid_output output;
        const xml_element* all = child(from_, "violations");
        if (!all) return unreadable("<invalid_output> has no <violations>");
        for (const xml_element& each : all->children) output.violations.push_back(each.text);
        return task_error::kind(std::move(output));
    }

    const xml_element& from_;
};

} // namespace

std::string to_xml(const task_error& what) {
    parts_writer parts;
    const std::string name(std::visit(parts, what.what));
    return "<task_error><" + name + ">" + parts.before + element("message", what.message) +
           parts.after + "</" + name + "></task_error>";
}

result<task_error> task_error_from_xml(std::string_view xml) {
    source_map sources;
    const std::uint32_t position = sources.add("error", std::string(xml));
    std::vector<lang::problem> problems;
    const auto root = read_xml(xml, position, {}, problems);
    if (!root) {
        const lang::problem& first = problems.front();
        return unreadable("line " + std::to_string(sources.locate(first.span).line) + ": " +
                          first.message);
    }
    if (root->name != "task_error" || root->children.size() != 1) {
        return unreadable("it must be <task_error> with one element");
    }
    return parts_reader(root->children.front()).read();
}

} // namespace heddle::tasks
