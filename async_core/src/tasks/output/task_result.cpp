#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>
#include <heddle/tasks/output/task_result.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace heddle::tasks {

namespace {

[[nodiscard]] std::string_view text_of(const lang::value& map, std::string_view key) noexcept {
    const lang::value* found = lang::map_find(map, key);
    return found && found->is(lang::kind::string) ? lang::string_bytes(*found) : std::string_view();
}

constexpr unsigned max_depth = 8; ///< of lists and maps that are looked through for results

[[nodiscard]] bool may_hold_results(const lang::value& v) noexcept {
    return v.is(lang::kind::map) || v.is(lang::kind::list);
}

/// What a value shows of a storage, and how deep inside of the whole.
struct shared_part {
    const lang::object* storage;
    std::uint32_t offset;
    std::uint32_t length;
    unsigned depth;
    bool operator==(const shared_part&) const = default;
};

struct shared_part_hash {
    std::size_t operator()(const shared_part& part) const noexcept {
        std::size_t hash = std::hash<const void*>()(part.storage) * 0x9E3779B97F4A7C15ULL;
        hash ^= (hash >> 32) ^ (std::size_t{part.offset} << 28 | part.length);
        return hash * 0xBF58476D1CE4E5B9ULL + part.depth;
    }
};

/// Puts the value of each result in its place. A part that is in several places is looked through
/// once at each depth, as its places may be many more than the memory has parts.
class replacing {
public:
    explicit replacing(lang::heap& memory) : memory_(memory) {}

    [[nodiscard]] result<lang::value> of(const lang::value& given, unsigned depth);

private:
    [[nodiscard]] result<lang::value> of_parts(const lang::value& given, unsigned depth);
    [[nodiscard]] result<lang::value> of_list(const lang::value& given, unsigned depth);
    [[nodiscard]] result<lang::value> of_map(const lang::value& given, unsigned depth);

    lang::heap& memory_;
    std::unordered_map<shared_part, lang::value, shared_part_hash> known_;
};

result<lang::value> replacing::of(const lang::value& given, unsigned depth) {
    if (!may_hold_results(given)) return given;
    if (is_failed_result(given)) return task_error_of(given);
    if (is_task_result(given)) {
        const lang::value* parsed = lang::map_find(given, "parsedContent");
        return parsed ? *parsed : *lang::map_find(given, "content");
    }
    if (depth == max_depth) return given;
    const bool is_shared = given.is_object() && given.target()->references > 1;
    if (!is_shared) return of_parts(given, depth);
    const shared_part part{given.target(), given.offset(), given.length(), depth};
    if (const auto found = known_.find(part); found != known_.end()) return found->second;
    HEDDLE_TRY(lang::value created, of_parts(given, depth));
    known_.emplace(part, created);
    return created;
}

result<lang::value> replacing::of_parts(const lang::value& given, unsigned depth) {
    return given.is(lang::kind::list) ? of_list(given, depth) : of_map(given, depth);
}

result<lang::value> replacing::of_list(const lang::value& given, unsigned depth) {
    std::vector<lang::value> items; // filled from the first element on that is replaced
    const auto elements = lang::list_items(given);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        if (items.empty() && !may_hold_results(elements[i])) continue;
        HEDDLE_TRY(lang::value item, of(elements[i], depth + 1));
        if (items.empty()) {
            if (item.identical(elements[i])) continue;
            items.reserve(elements.size());
            items.assign(elements.begin(), elements.begin() + static_cast<std::ptrdiff_t>(i));
        }
        items.push_back(std::move(item));
    }
    if (items.empty()) return given;
    return lang::make_list(memory_, items);
}

result<lang::value> replacing::of_map(const lang::value& given, unsigned depth) {
    lang::value created = given;
    for (const lang::map_entry& entry : lang::map_entries(given)) {
        if (!may_hold_results(entry.item)) continue;
        HEDDLE_TRY(lang::value item, of(entry.item, depth + 1));
        if (item.identical(entry.item)) continue;
        created = lang::map_put(memory_, std::move(created), entry.key, std::move(item));
    }
    return created;
}

} // namespace

bool is_failed_result(const lang::value& v) noexcept {
    return v.is(lang::kind::map) && text_of(v, "status") == "FAILED" && lang::map_find(v, "notes");
}

bool is_task_result(const lang::value& v) noexcept {
    if (!v.is(lang::kind::map)) return false;
    const std::string_view status = text_of(v, "status");
    if (status != "COMPLETE" && status != "FAILED" && status != "CONTINUATION") return false;
    const lang::value* content = lang::map_find(v, "content");
    if (!content || !content->is(lang::kind::string)) return false;
    const auto entries = lang::map_entries(v);
    return std::all_of(entries.begin(), entries.end(), [](const lang::map_entry& entry) {
        const std::string_view key = lang::string_bytes(entry.key);
        return key == "status" || key == "content" || key == "parsedContent" || key == "criteria" ||
               key == "notes";
    });
}

result<lang::value> without_results(lang::heap& memory, const lang::value& given) {
    return replacing(memory).of(given, 0);
}

error task_error_of(const lang::value& failed) {
    auto payload = std::make_shared<lang::script_payload>();
    payload->result = failed;
    std::string message;
    const lang::value* details = nullptr;
    const lang::value* notes = lang::map_find(failed, "notes");
    if (notes && notes->is(lang::kind::map)) {
        const lang::value* what = lang::map_find(*notes, "error");
        if (what && what->is(lang::kind::map)) {
            payload->reason = text_of(*what, "reason");
            if (payload->reason.empty()) payload->reason = text_of(*what, "type");
            message = text_of(*what, "message");
            details = lang::map_find(*what, "details");
        }
        const std::string_view task = text_of(*notes, "template_used");
        if (!task.empty()) message = "task '" + std::string(task) + "' failed: " + message;
    }
    if (payload->reason.empty()) payload->reason = to_string(task_failure_reason::unexpected_error);
    if (message.empty()) message = "a task failed: " + std::string(text_of(failed, "content"));
    error failure = error(lang::errc::task, std::move(message)).with_payload(std::move(payload));
    if (!details || !details->is(lang::kind::map)) return failure;
    if (const std::string_view hint = text_of(*details, "hint"); !hint.empty()) {
        failure = std::move(failure).with_hint(std::string(hint));
    }
    const lang::value* causes = lang::map_find(*details, "causes");
    if (!causes || !causes->is(lang::kind::list)) return failure;
    for (const lang::value& cause : lang::list_items(*causes)) {
        if (!cause.is(lang::kind::string)) continue;
        failure = std::move(failure).with_last_cause(
            error(lang::errc::task, std::string(lang::string_bytes(cause))));
    }
    return failure;
}

} // namespace heddle::tasks
