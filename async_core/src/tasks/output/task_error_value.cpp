// Task errors as values of the language, and as the JSON of those values.
#include <heddle/tasks/output/task_error.hpp>

#include "tasks/output/message_json.hpp"

#include <heddle/base/json_string.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>

#include <optional>
#include <vector>

namespace heddle::tasks {

namespace {

using lang::kind;
using lang::value;

[[nodiscard]] error unreadable(const std::string& why) {
    return error(heddle::errc::invalid_argument, "a task error in JSON: " + why);
}

class value_writer {
public:
    explicit value_writer(lang::heap& memory) : memory_(memory) {}

    [[nodiscard]] value write(const task_error& what) {
        put("type", text(what.type_name()));
        put("message", text(what.message));
        std::visit([this](const auto& one) { members(one); }, what.what);
        return std::move(map_);
    }

private:
    void members(const task_error::resource_exhaustion& what) {
        put("resource", text(what.resource));
        if (!what.use) return;
        value use = lang::map_put(memory_, value::empty_map(), "used", value::real(what.use->used));
        put("metrics",
            lang::map_put(memory_, std::move(use), "limit", value::real(what.use->limit)));
    }
    void members(const task_error::failure& what) {
        put("reason", text(to_string(what.reason)));
        if (what.details_json.empty()) return;
        auto details = lang::json_to_value(memory_, what.details_json);
        // Whatever the maker of the error wrote: what is not JSON is shown as it is.
        put("details", details ? *std::move(details) : text(what.details_json));
    }
    void members(const task_error::invalid_output& what) {
        value all = value::empty_list();
        for (const std::string& each : what.violations) {
            all = lang::list_push_back(memory_, std::move(all), text(each));
        }
        put("violations", std::move(all));
    }
    void members(const task_error::validation_error& what) { put("path", text(what.path)); }
    void members(const task_error::xml_parse_error& what) { put("location", text(what.location)); }

    [[nodiscard]] value text(std::string_view bytes) { return lang::make_string(memory_, bytes); }
    void put(std::string_view key, value item) {
        map_ = lang::map_put(memory_, std::move(map_), key, std::move(item));
    }

    lang::heap& memory_;
    value map_ = value::empty_map();
};

class value_reader {
public:
    explicit value_reader(const value& from) : from_(from) {}

    result<task_error> read() {
        task_error error;
        HEDDLE_TRY(const std::string type, text("type"));
        HEDDLE_TRY(error.message, text("message"));
        std::vector<std::string_view> known;
        if (type == "RESOURCE_EXHAUSTION") {
            known = {"resource", "metrics", "reason"}; // of time: execution_timeout
            HEDDLE_TRY(error.what, read_exhaustion());
        } else if (type == "TASK_FAILURE") {
            known = {"reason", "details"};
            HEDDLE_TRY(error.what, read_failure());
        } else if (type == "INVALID_OUTPUT") {
            known = {"violations"};
            HEDDLE_TRY(error.what, read_violations());
        } else if (type == "VALIDATION_ERROR") {
            known = {"path"};
            HEDDLE_TRY(std::string path, text("path"));
            error.what = task_error::validation_error{std::move(path)};
        } else if (type == "XML_PARSE_ERROR") {
            known = {"location"};
            HEDDLE_TRY(std::string location, text("location"));
            error.what = task_error::xml_parse_error{std::move(location)};
        } else return unreadable("type is none of the known ones");
        for (const lang::map_entry& entry : lang::map_entries(from_)) {
            const std::string_view name = lang::string_bytes(entry.key);
            bool fits = name == "type" || name == "message";
            for (const std::string_view one : known) fits = fits || one == name;
            if (!fits) return unreadable("unknown member '" + std::string(name) + "' of " + type);
        }
        return error;
    }

private:
    /// Null for a member that is missing or nil.
    [[nodiscard]] const value* member(std::string_view name) const {
        const value* found = lang::map_find(from_, name);
        return found && !found->is_nil() ? found : nullptr;
    }
    [[nodiscard]] result<std::string> text(std::string_view name) const {
        const value* found = member(name);
        if (!found || !found->is(kind::string)) {
            return unreadable("'" + std::string(name) + "' must be a string");
        }
        return std::string(lang::string_bytes(*found));
    }

    [[nodiscard]] static std::optional<double> number(const value* given) noexcept {
        if (given && given->is_integer()) return static_cast<double>(given->as_integer());
        if (given && given->is(kind::real)) return given->as_real();
        return std::nullopt;
    }

    [[nodiscard]] result<task_error::kind> read_exhaustion() const {
        task_error::resource_exhaustion exhaustion;
        HEDDLE_TRY(exhaustion.resource, text("resource"));
        const value* use = member("metrics");
        if (!use) return task_error::kind(std::move(exhaustion));
        const bool map = use->is(kind::map);
        const auto used = number(map ? lang::map_find(*use, "used") : nullptr);
        const auto limit = number(map ? lang::map_find(*use, "limit") : nullptr);
        if (!used || !limit) return unreadable("'metrics' must have the numbers used and limit");
        exhaustion.use = {*used, *limit};
        return task_error::kind(std::move(exhaustion));
    }

    [[nodiscard]] result<task_error::kind> read_failure() const {
        task_error::failure created;
        HEDDLE_TRY(const std::string reason, text("reason"));
        const auto known = task_failure_reason_from(reason);
        if (!known)
            return unreadable("'" + utf8::shortened(reason, 80) + "' is not a known reason");
        created.reason = *known;
        const value* details = member("details");
        if (!details) return task_error::kind(std::move(created));
        if (!details->is(kind::map)) return unreadable("'details' must be an object");
        // A function, or a number that JSON cannot write: the reason counts for more than the
        // details, which are kept as they print.
        const auto json = message_json(*details);
        created.details_json = json ? *json : "{\"printed\":" + printed(*details) + "}";
        return task_error::kind(std::move(created));
    }
    [[nodiscard]] static std::string printed(const value& details) {
        lang::print_options options;
        options.max_bytes = 4000;
        return json_string(lang::print_value(details, options));
    }

    [[nodiscard]] result<task_error::kind> read_violations() const {
        task_error::invalid_output output;
        const value* found = member("violations");
        if (!found || !found->is(kind::list)) return unreadable("'violations' must be a list");
        for (const value& each : lang::list_items(*found)) {
            if (!each.is(kind::string)) return unreadable("'violations' must hold strings");
            output.violations.emplace_back(lang::string_bytes(each));
        }
        return task_error::kind(std::move(output));
    }

    const value& from_;
};

} // namespace

lang::value to_value(lang::heap& memory, const task_error& what) {
    return value_writer(memory).write(what);
}

result<task_error> task_error_from_value(const lang::value& map) {
    if (!map.is(kind::map)) return unreadable("it must be an object");
    return value_reader(map).read();
}

std::string to_json(const task_error& what) {
    const lang::heap_owner memory(lang::heap::create());
    auto json = message_json(to_value(*memory, what));
    if (json) return *std::move(json);
    // A number that JSON cannot write, or details without end: the rest of the error stays.
    task_error rest = what;
    if (auto* used = std::get_if<task_error::resource_exhaustion>(&rest.what)) used->use.reset();
    if (auto* failed = std::get_if<task_error::failure>(&rest.what)) failed->details_json.clear();
    return message_json(to_value(*memory, rest)).value();
}

result<task_error> task_error_from_json(std::string_view text) {
    const lang::heap_owner memory(lang::heap::create());
    const auto read = lang::json_to_value(*memory, text);
    if (!read) return unreadable(read.error().message());
    return task_error_from_value(*read);
}

} // namespace heddle::tasks
