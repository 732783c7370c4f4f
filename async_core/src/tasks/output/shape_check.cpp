#include "tasks/output/shape_check.hpp"

#include "tasks/output/canonical_text.hpp"
#include "tasks/output/json_types.hpp"
#include "tasks/output/schema_constraints.hpp"
#include "tasks/output/schema_rewriter.hpp"

#define VALIJSON_USE_EXCEPTIONS 1
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/constraints/concrete_constraints.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::tasks {

namespace {

namespace json = boost::json;
using valijson::adapters::Adapter;

constexpr std::string_view members_key = "members";
constexpr std::string_view closed_key = "closed";
constexpr std::string_view type_key = "type";
constexpr std::string_view values_key = "values";
constexpr std::string_view required_key = "required";
constexpr std::size_t max_values = 100; ///< of one member: a tag has few
constexpr std::uint64_t members_in_a_step = 4;

/// What a schema requires of a value in itself. Empty: nothing.
[[nodiscard]] json::object look_of(const json::value& schema) {
    json::object look;
    const json::object* object = schema.if_object();
    if (!object || object->contains("$ref")) return look; // nothing beside a reference holds
    const auto copy = [&](std::string_view from, std::string_view to) {
        const json::value* found = object->if_contains({from.data(), from.size()});
        const json::array* several = found ? found->if_array() : nullptr;
        if (found && (!several || several->size() <= max_values))
            look[{to.data(), to.size()}] = *found;
    };
    copy(safe_type_key, type_key);
    copy(safe_values_key, values_key);
    return look;
}

/// `all_names`: also of members without a rule.
void add_shape(const json::object& schema, bool all_names, json::array& required,
               json::object& members) {
    if (const json::value* names = schema.if_contains("required"); names && names->is_array()) {
        for (const json::value& each : names->get_array()) {
            if (each.is_string()) required.push_back(each);
        }
    }
    const json::value* properties = schema.if_contains("properties");
    const json::object* described = properties ? properties->if_object() : nullptr;
    if (!described) return;
    for (const auto& [name, each] : *described) {
        json::object look = look_of(each);
        if (all_names || !look.empty()) members.emplace(name, std::move(look));
    }
}

class shape_check final : public valijson::constraints::PolyConstraint {
public:
    explicit shape_check(const Adapter& shape) {
        rules all;
        shape.applyToObject([&](const std::string& key, const Adapter& content) {
            if (key == closed_key) all.closed = true;
            if (key == required_key) read_required(all, content);
            if (key == members_key) read_members(all, content);
            return true;
        });
        rules_ = std::make_shared<const rules>(std::move(all));
    }

    bool validate(const Adapter& target, const std::vector<std::string>&,
                  valijson::ValidationResults* results) const override {
        if (results || !target.isObject()) return true;
        check_effort::take(1 +
                           (target.getObjectSize() + rules_->members.size()) / members_in_a_step);
        std::size_t needed = 0;
        const bool all_fit =
            target.applyToObject([&](const std::string& name, const Adapter& content) {
                const auto rule = rules_->members.find(name);
                if (rule == rules_->members.end()) return !rules_->closed;
                if (rule->second.required) ++needed;
                return fits(rule->second, content);
            });
        return all_fit && needed == rules_->required;
    }

private:
    struct member {
        bool required = false;
        std::optional<json_types> types;
        std::vector<std::string> values; ///< canonical, sorted; empty: any
    };
    struct rules {
        std::map<std::string, member, std::less<>> members;
        std::size_t required = 0;
        bool closed = false; ///< others are not allowed
    };

    static void read_required(rules& all, const Adapter& names) {
        names.applyToArray([&](const Adapter& name) {
            member& one = all.members[name.asString()];
            if (!std::exchange(one.required, true)) ++all.required;
            return true;
        });
    }
    static void read_members(rules& all, const Adapter& members) {
        members.applyToObject([&](const std::string& name, const Adapter& look) {
            member& one = all.members[name];
            look.applyToObject([&](const std::string& key, const Adapter& content) {
                if (key == type_key) one.types.emplace(content);
                if (key == values_key) one.values = values_in(content);
                return true;
            });
            return true;
        });
    }
    [[nodiscard]] static std::vector<std::string> values_in(const Adapter& list) {
        std::vector<std::string> texts;
        list.applyToArray([&](const Adapter& each) {
            append_canonical(texts.emplace_back(), each);
            return true;
        });
        std::sort(texts.begin(), texts.end());
        return texts;
    }
    [[nodiscard]] static bool fits(const member& rule, const Adapter& content) {
        if (rule.types && !rule.types->hold(content)) return false;
        // Of what holds more, each element would be looked at: its own check does that.
        if (rule.values.empty() || content.isObject() || content.isArray()) return true;
        std::string text;
        append_canonical(text, content);
        return std::binary_search(rule.values.begin(), rule.values.end(), text);
    }
    Constraint* cloneInto(void* place) const override { return new (place) shape_check(*this); }
    std::size_t sizeOf() const override { return sizeof(*this); }

    std::shared_ptr<const rules> rules_;
};

} // namespace

json::object shape_of(const json::object& schema) {
    json::array required;
    json::object members;
    const json::value* more = schema.if_contains("additionalProperties");
    const bool closed = more && *more == json::value(false);
    add_shape(schema, closed, required, members);
    if (const json::value* all = schema.if_contains("allOf"); all && all->is_array()) {
        for (const json::value& each : all->get_array()) {
            const json::object* part = each.if_object();
            if (part && !part->contains("$ref")) add_shape(*part, false, required, members);
        }
    }
    json::object shape;
    if (required.empty() && members.empty() && !closed) return shape;
    if (closed) shape[{closed_key.data(), closed_key.size()}] = true;
    shape[{required_key.data(), required_key.size()}] = std::move(required);
    shape[{members_key.data(), members_key.size()}] = std::move(members);
    return shape;
}

valijson::constraints::Constraint* make_shape_check(const Adapter& shape) {
    return new shape_check(shape);
}

} // namespace heddle::tasks
