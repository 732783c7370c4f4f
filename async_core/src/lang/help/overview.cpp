// (help): every name, by kind and family.
#include <heddle/lang/help.hpp>

#include <heddle/base/utf8.hpp>

#include "lang/compile/special_form.hpp"
#include "lang/stdlib/stdlib_sources.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace heddle::lang {

namespace {

constexpr std::size_t width = 80;

/// Sections in the order of their first name; in each the families in theirs.
class listing {
public:
    void add(const std::string& section, const std::string& family, std::string name) {
        section_of(section).family_of(family).names.push_back(std::move(name));
    }
    [[nodiscard]] std::string text() const {
        std::string out;
        for (const section& each : sections_) {
            out += each.title + "\n";
            for (const family& one : each.families) write(out, one);
        }
        return out;
    }

private:
    struct family {
        std::string title;
        std::vector<std::string> names;
    };
    struct section {
        std::string title;
        std::vector<family> families;
        family& family_of(const std::string& wanted) {
            for (family& each : families) {
                if (each.title == wanted) return each;
            }
            return families.emplace_back(family{wanted, {}});
        }
    };
    section& section_of(const std::string& wanted) {
        for (section& each : sections_) {
            if (each.title == wanted) return each;
        }
        return sections_.emplace_back(section{wanted, {}});
    }
    static void write(std::string& text, const family& one) {
        std::string line = one.title.empty() ? " " : "  " + one.title + ":";
        for (const std::string& name : one.names) {
            if (utf8::count(line) + 1 + utf8::count(name) > width) {
                text += line + "\n";
                line = "   ";
            }
            line += " " + name;
        }
        text += line + "\n";
    }

    std::vector<section> sections_;
};

void add_own(realm& realm, listing& names) {
    std::vector<std::string> all;
    realm.collect_names(all);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (const std::string& name : all) {
        const auto entry = describe(realm, name);
        if (!entry) continue;
        switch (entry->kind) {
        case help_kind::function:
        case help_kind::macro:
        case help_kind::value: names.add("Of this program", "", name); break;
        case help_kind::task:
        case help_kind::tool: names.add("Tasks and tools", "", name); break;
        default: break;
        }
    }
}

} // namespace

std::vector<std::string> library_modules() {
    std::vector<std::string> names;
    for (const library_source& each : stdlib_sources())
        names.push_back("std/" + std::string(each.name));
    return names;
}

std::string help_overview(realm& realm, help_reach reach) {
    listing names;
    for (const special_form& row : documented_forms())
        names.add("Special forms", std::string(row.family), std::string(row.name));
    for (const auto rows : builtin_families()) {
        for (const builtin& row : rows) {
            if (row.name.front() == '%' || find_special_form(row.name)) continue;
            names.add("Builtins", std::string(row.family), std::string(row.name));
        }
    }
    std::vector<std::string> of_host;
    realm.host().collect_names(of_host);
    std::sort(of_host.begin(), of_host.end());
    for (const std::string& name : of_host) {
        const builtin* row = realm.host().find_effect(name);
        if (row && name.front() != '%') names.add("Builtins", std::string(row->family), name);
    }
    for (std::uint32_t i = 0; i < realm.global_count(); ++i) {
        const std::string_view name = realm.global_name(i);
        if (realm.is_prelude_global(i) && name.front() != '%' && !realm.global(i).is_unbound())
            names.add("Functions of the prelude", "", std::string(name));
    }
    for (std::string& module : library_modules())
        names.add("Modules of the standard library, for (import name)", "", std::move(module));
    if (reach == help_reach::everything) add_own(realm, names);
    return names.text() + "(help 'name) describes one of them.\n";
}

} // namespace heddle::lang
