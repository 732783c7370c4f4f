#include <heddle/tasks/task_error.hpp>

#include "tasks/short_text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <vector>

namespace heddle::tasks {

namespace {

namespace json = boost::json;

[[nodiscard]] error unreadable(const std::string& why) {
    return error(heddle::errc::invalid_argument, "a task error in JSON: " + why);
}

struct members_writer {
    json::object& out;

    void operator()(const task_error::resource_exhaustion& what) const {
        out["resource"] = what.resource;
        if (what.use) out["metrics"] = {{"used", what.use->used}, {"limit", what.use->limit}};
    }
    void operator()(const task_error::failure& what) const {
        out["reason"] = json::string(to_string(what.reason));
        if (what.details_json.empty()) return;
        boost::system::error_code broken;
        json::value details = json::parse(what.details_json, broken);
        // Whatever the maker of the error wrote, the error stays JSON.
        out["details"] = broken ? json::value(what.details_json) : std::move(details);
    }
    void operator()(const task_error::invalid_output& what) const {
        out["violations"] = json::array(what.violations.begin(), what.violations.end());
    }
    void operator()(const task_error::validation_error& what) const { out["path"] = what.path; }
    void operator()(const task_error::xml_parse_error& what) const {
        out["location"] = what.location;
    }
};

class members_reader {
public:
    explicit members_reader(const json::object& from) : from_(from) {}

    result<task_error> read() {
        task_error made;
        HEDDLE_TRY(const std::string type, text("type"));
        HEDDLE_TRY(made.message, text("message"));
        std::vector<std::string_view> known;
        if (type == "RESOURCE_EXHAUSTION") {
            known = {"resource", "metrics", "reason"}; // of time: execution_timeout
            HEDDLE_TRY(made.what, read_exhaustion());
        } else if (type == "TASK_FAILURE") {
            known = {"reason", "details"};
            HEDDLE_TRY(made.what, read_failure());
        } else if (type == "INVALID_OUTPUT") {
            known = {"violations"};
            HEDDLE_TRY(made.what, read_violations());
        } else if (type == "VALIDATION_ERROR") {
            known = {"path"};
            HEDDLE_TRY(std::string path, text("path"));
            made.what = task_error::validation_error{std::move(path)};
        } else if (type == "XML_PARSE_ERROR") {
            known = {"location"};
            HEDDLE_TRY(std::string location, text("location"));
            made.what = task_error::xml_parse_error{std::move(location)};
        } else return unreadable("type is none of the known ones");
        for (const auto& [name, member] : from_) {
            bool fits = name == "type" || name == "message";
            for (const std::string_view one : known) fits = fits || one == std::string_view(name);
            if (!fits) return unreadable("unknown member '" + std::string(name) + "' of " + type);
        }
        return made;
    }

private:
    result<std::string> text(std::string_view name) const {
        const json::value* found = from_.if_contains(name);
        if (!found || !found->is_string()) {
            return unreadable("'" + std::string(name) + "' must be a string");
        }
        return std::string(found->get_string());
    }

    result<task_error::kind> read_exhaustion() const {
        task_error::resource_exhaustion made;
        HEDDLE_TRY(made.resource, text("resource"));
        const json::value* use = from_.if_contains("metrics");
        if (!use || use->is_null()) return task_error::kind(std::move(made));
        const json::object* numbers = use->if_object();
        const json::value* used = numbers ? numbers->if_contains("used") : nullptr;
        const json::value* limit = numbers ? numbers->if_contains("limit") : nullptr;
        if (!used || !limit || !used->is_number() || !limit->is_number()) {
            return unreadable("'metrics' must have the numbers used and limit");
        }
        made.use = {used->to_number<double>(), limit->to_number<double>()};
        return task_error::kind(std::move(made));
    }

    result<task_error::kind> read_failure() const {
        task_error::failure made;
        HEDDLE_TRY(const std::string reason, text("reason"));
        const auto known = task_failure_reason_from(reason);
        if (!known) return unreadable("'" + short_text(reason) + "' is no reason");
        made.reason = *known;
        const json::value* details = from_.if_contains("details");
        if (!details || details->is_null()) return task_error::kind(std::move(made));
        if (!details->is_object()) return unreadable("'details' must be an object");
        made.details_json = json::serialize(*details);
        return task_error::kind(std::move(made));
    }

    result<task_error::kind> read_violations() const {
        task_error::invalid_output made;
        const json::value* found = from_.if_contains("violations");
        if (!found || !found->is_array()) return unreadable("'violations' must be a list");
        for (const json::value& each : found->get_array()) {
            if (!each.is_string()) return unreadable("'violations' must hold strings");
            made.violations.emplace_back(each.get_string());
        }
        return task_error::kind(std::move(made));
    }

    const json::object& from_;
};

} // namespace

std::string to_json(const task_error& what) {
    json::object made;
    made["type"] = json::string(what.type_name());
    made["message"] = what.message;
    std::visit(members_writer{made}, what.what);
    return json::serialize(made);
}

result<task_error> task_error_from_json(std::string_view text) {
    boost::system::error_code broken;
    const json::value read = json::parse(text, broken);
    if (broken) return unreadable(broken.message());
    const json::object* members = read.if_object();
    if (!members) return unreadable("it must be an object");
    return members_reader(*members).read();
}

} // namespace heddle::tasks
