#include "lang/check/library_facts.hpp"

#include "lang/prelude/prelude_sources.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>

namespace heddle::lang {

namespace {

using std::string_view;

[[nodiscard]] string_view name_of(const value& v) {
    return v.is(kind::symbol) ? symbol_name(v) : string_view();
}

[[nodiscard]] std::span<const value> items_of(const value& v) {
    return v.is(kind::list) ? list_items(v) : std::span<const value>();
}

/// Heads whose parts may hold a function without calling it or giving it away.
[[nodiscard]] bool only_looks(string_view head) noexcept {
    constexpr std::array<string_view, 9> known{"if",  "when",  "unless",     "and", "or",
                                               "not", "null?", "procedure?", "cond"};
    return head.starts_with("%check-") ||
           std::find(known.begin(), known.end(), head) != known.end();
}

} // namespace

/// One look at the body of a function.
class library_facts::reading {
public:
    reading(library_facts& all, definition& one) : all_(all), one_(one) {}

    void run() {
        const auto parts = list_items(one_.whole);
        read_parameters(items_of(parts[1]).subspan(1));
        for (const std::string& each : one_.facts.parameters) uses_[each];
        for (std::size_t i = 2; i < parts.size(); ++i) walk(parts[i]);
        for (std::size_t i = 0; i < one_.facts.parameters.size(); ++i) {
            const use& found = uses_[one_.facts.parameters[i]];
            const bool certain = !found.unclear && found.counts.size() == 1 &&
                                 (!found.applied || one_.facts.has_rest);
            if (certain) one_.facts.callbacks[i] = *found.counts.begin();
        }
    }

private:
    struct use {
        std::set<std::size_t> counts; ///< of arguments it is called with
        bool applied = false;         ///< (apply f …)
        bool unclear = false;
    };

    void read_parameters(std::span<const value> names) {
        library_function& function = one_.facts;
        bool optional = false;
        for (const value& each : names) {
            const string_view name = name_of(each);
            if (name == "&optional") optional = true;
            else if (name == "." || name == "&rest") function.has_rest = true;
            else {
                function.parameters.emplace_back(name);
                if (!function.has_rest) ++(optional ? function.optional : function.required);
            }
        }
    }

    /// Bodies of libraries do not nest deep.
    void walk(const value& form) {
        const auto parts = items_of(form);
        if (parts.empty()) return;
        const string_view head = name_of(parts[0]);
        if (head == "quote" || head == "quasiquote") return;
        if (head == "lambda" && parts.size() > 1) rebind(items_of(parts[1]));
        if (head == "define" && parts.size() > 1) rebind(items_of(parts[1]));
        if (head.starts_with("let") && parts.size() > 2) {
            for (const value& each : items_of(name_of(parts[1]).empty() ? parts[1] : parts[2])) {
                if (const auto binding = items_of(each); !binding.empty())
                    rebind(binding.subspan(0, 1));
            }
        }
        if (const auto called = uses_.find(std::string(head)); called != uses_.end())
            called->second.counts.insert(parts.size() - 1);
        note_list_check(head, parts);
        for (std::size_t i = 1; i < parts.size(); ++i) {
            if (parts[i].is(kind::list)) walk(parts[i]);
            else note_given(head, parts, i);
        }
        if (parts[0].is(kind::list)) walk(parts[0]);
    }

    void rebind(std::span<const value> names) {
        for (const value& each : names) {
            const auto found = uses_.find(std::string(name_of(each)));
            if (found != uses_.end()) found->second.unclear = true;
        }
    }

    /// (%check-list "who" index parameter)
    void note_list_check(string_view head, std::span<const value> parts) {
        if (head != "%check-list" || parts.size() != 4) return;
        const auto& names = one_.facts.parameters;
        const auto found = std::find(names.begin(), names.end(), name_of(parts[3]));
        if (found != names.end())
            one_.facts.lists.push_back(static_cast<std::size_t>(found - names.begin()));
    }

    /// A parameter that is given to something else.
    void note_given(string_view head, std::span<const value> parts, std::size_t i) {
        const auto found = uses_.find(std::string(name_of(parts[i])));
        if (found == uses_.end() || only_looks(head)) return;
        use& given = found->second;
        if (head == "apply" && i == 1) {
            given.applied = true;
        } else if ((head == "%branch" || head == "%free-branch") && i == 3) {
            given.counts.insert(parts.size() - 4);
        } else if (const library_function* other = all_.find(head);
                   other && other->callbacks.contains(i - 1)) {
            given.counts.insert(other->callbacks.at(i - 1));
        } else {
            given.unclear = true;
        }
    }

    library_facts& all_;
    definition& one_;
    std::map<std::string, use> uses_;
};

void library_facts::add_prelude() {
    if (has_prelude_) return;
    has_prelude_ = true;
    for (const prelude_source& each : prelude_sources()) add(each.text);
}

void library_facts::add(string_view text) {
    const auto forms = read_all(memory_, text);
    if (!forms) return;
    for (const datum& each : *forms) {
        const auto parts = items_of(each.content);
        if (parts.size() < 3 || name_of(parts[0]) != "define") continue;
        const auto signature = items_of(parts[1]);
        if (signature.empty() || name_of(signature[0]).empty()) continue;
        all_[std::string(name_of(signature[0]))].whole = each.content;
    }
}

const library_function* library_facts::find(string_view name) {
    const auto found = all_.find(std::string(name));
    if (found == all_.end()) return nullptr;
    definition& one = found->second;
    if (!one.read) {
        one.read = true; // a function that calls itself is found as it is known so far
        reading(*this, one).run();
    }
    return &one.facts;
}

} // namespace heddle::lang
