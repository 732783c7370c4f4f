#include <heddle/lang/realm.hpp>

#include "lang/realm/code_service.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/errors.hpp>

#include <algorithm>

namespace heddle::lang {

namespace {

class empty_host final : public host_names {
public:
    const builtin* find_effect(std::string_view) const override { return nullptr; }
    std::optional<operator_info> find_operator(heap&, std::string_view) const override {
        return std::nullopt;
    }
    std::optional<operator_info> describe_callable(const host_object&) const override {
        return std::nullopt;
    }
    bool is_reserved_key(std::string_view) const override { return false; }
    double now() const override { return 0; }
    void collect_names(std::vector<std::string>&) const override {}
};

/// Optimal string alignment distance, given up beyond `limit`.
std::size_t distance(std::string_view a, std::string_view b, std::size_t limit) {
    if (a.size() > b.size() + limit || b.size() > a.size() + limit) return limit + 1;
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + cost});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        std::swap(before, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

} // namespace

const host_names& no_host() noexcept {
    static const empty_host host;
    return host;
}

realm::realm(const host_names& host, const code_service& stages)
    : memory_(heap::create()), host_(&host), stages_(&stages) {}

realm::realm(const realm& base, const host_names& host)
    : memory_(heap::create_over(*base.memory_)), sources_(&base.sources_), host_(&host),
      stages_(base.stages_), globals_(&base.globals_), macros_(base.macros_),
      libraries_(base.libraries_), host_events_(base.host_events_),
      fibers_numbered_(base.fibers_numbered_) {
    has_semaphores = base.has_semaphores;
    has_tools = base.has_tools;
}

std::uint32_t realm::global_index(std::string_view name) {
    using layer = global_table::layer;
    return globals_.index(compiling_prelude_ ? layer::prelude : layer::program, name, *memory_);
}

std::uint32_t realm::reference_index(std::string_view name) {
    if (compiling_prelude_) return global_index(name);
    if (const auto bound = find_program_global(name)) return *bound;
    if (const auto known = find_prelude_global(name)) return *known;
    return global_index(name);
}

std::optional<std::uint32_t> realm::find_program_global(std::string_view name) const {
    return globals_.find_bound(global_table::layer::program, name);
}

std::optional<std::uint32_t> realm::find_prelude_global(std::string_view name) const {
    return globals_.find_bound(global_table::layer::prelude, name);
}

std::optional<std::uint32_t> realm::find_global(std::string_view name) const {
    if (const auto bound = find_program_global(name)) return bound;
    return find_prelude_global(name);
}

void realm::define(std::string_view name, value content) {
    change_global(global_index(name)) = std::move(content);
}

bool realm::undefine(std::string_view name) {
    const auto index = globals_.find_bound(global_table::layer::program, name);
    const bool found = index || find_macro(name);
    if (index) change_global(*index) = value::unbound();
    forget_macro(name);
    return found;
}

void realm::visit_values(host_object::value_visitor& visitor) const {
    for (std::uint32_t i = 0; i < globals_.size(); ++i) visitor.visit(globals_[i]);
    const auto visit = [&](const std::string&, const value& content) { visitor.visit(content); };
    macros_.for_each(visit);
    libraries_.for_each(visit);
}

const value* realm::find_macro(std::string_view name) const { return macros_.find(name); }

void realm::define_macro(std::string_view name, value expander) {
    macros_.put(name, std::move(expander));
}

void realm::forget_macro(std::string_view name) { macros_.erase(name); }

const value* realm::imported_library(const std::string& name) const {
    return libraries_.find(name);
}

void realm::note_library(std::string name, value content) {
    libraries_.put(name, std::move(content));
}

void realm::collect_names(std::vector<std::string>& names) const {
    const auto add = [&](std::string_view name) {
        if (!name.empty() && name.front() != '%') names.emplace_back(name);
    };
    // Who looks for a name looks at all of these in one go.
    constexpr std::size_t most = 10'000;
    for (std::uint32_t i = 0; i < std::min(globals_.size(), most); ++i) {
        if (!globals_[i].is_unbound()) add(globals_.name(i));
    }
    macros_.for_each([&](const std::string& name, const value&) { add(name); });
    std::vector<std::string> forms;
    stages_->collect_form_names(forms);
    for (const std::string& name : forms) add(name);
    for (const auto family : builtin_families()) {
        for (const builtin& row : family) add(row.name);
    }
    host_->collect_names(names);
}

error realm::unbound_error(std::string_view name) const {
    std::vector<std::string> names;
    collect_names(names);
    error failure(errc::unbound, "unbound symbol '" + utf8::shortened(name, 200) + "'");
    std::string hint = stages_->advice_for_name(name);
    if (hint.empty()) hint = suggest_names(name, names);
    if (!hint.empty()) failure = std::move(failure).with_hint(std::move(hint));
    return std::move(failure).with_origin(error_origin::script);
}

std::string suggest_names(std::string_view name, const std::vector<std::string>& candidates) {
    if (name.size() > 100) return {};
    const std::size_t limit = std::max<std::size_t>(1, name.size() / 3);
    std::vector<std::pair<std::size_t, std::string>> near;
    for (const std::string& candidate : candidates) {
        if (candidate == name) continue; // known, but not where it is asked for
        const std::size_t d = distance(name, candidate, limit);
        if (d <= limit && d < std::max(name.size(), candidate.size()))
            near.emplace_back(d, candidate);
    }
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    if (near.empty()) return {};
    if (near.size() > 3) near.resize(3);
    std::string text = "did you mean ";
    for (std::size_t i = 0; i < near.size(); ++i) {
        if (i != 0) text += i + 1 == near.size() ? " or " : ", ";
        text += "'" + near[i].second + "'";
    }
    return text + "?";
}

} // namespace heddle::lang
