// The pages of docs/reference/language, made from the same tables as (help …).
#include <heddle/lang/help.hpp>

#include "lang/compile/special_form.hpp"
#include "lang/help/wrap.hpp"
#include "lang/stdlib/stdlib_sources.hpp"

#include <heddle/lang/code.hpp>
#include <heddle/lang/compile.hpp>
#include <heddle/lang/machine.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/prelude.hpp>
#include <heddle/lang/reader.hpp>

#include <algorithm>
#include <utility>

namespace heddle::lang {

namespace {

constexpr std::size_t width = 100;
constexpr std::string_view made_by =
    "<!-- Made by `heddle reference DIR` from the tables of the language; a test compares. -->\n\n";

struct chapter {
    std::string title;
    std::vector<help_entry> entries;
};

void write(std::string& page, const help_entry& entry) {
    page += "### `" + entry.name + "`\n\n```scheme\n" + entry.usage + "\n```\n\n";
    page +=
        wrapped(entry.summary + (entry.details.empty() ? "" : " " + entry.details), width) + "\n\n";
    if (entry.examples.empty()) return;
    page += "```scheme\n";
    for (const std::string& example : entry.examples) page += example + "\n";
    page += "```\n\n";
}

std::string page_of(std::string_view title, std::string_view introduction,
                    const std::vector<chapter>& chapters) {
    std::string page = std::string(made_by) + "# " + std::string(title) + "\n\n" +
                       wrapped(introduction, width) + "\n\n";
    for (const chapter& each : chapters) {
        if (!each.title.empty()) page += "## " + each.title + "\n\n";
        for (const help_entry& entry : each.entries) write(page, entry);
    }
    page.pop_back(); // one line end is enough
    return page;
}

std::string capitalised(std::string_view family) {
    std::string text(family);
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
        text[0] = static_cast<char>(text[0] - 32);
    return text;
}

void add(std::vector<chapter>& chapters, help_entry entry) {
    const std::string title = capitalised(entry.family);
    const auto at = std::find_if(chapters.begin(), chapters.end(),
                                 [&](const chapter& each) { return each.title == title; });
    chapter& into = at == chapters.end() ? chapters.emplace_back(chapter{title, {}}) : *at;
    into.entries.push_back(std::move(entry));
}

void add_named(realm& realm, std::vector<chapter>& chapters, std::string_view name) {
    if (auto entry = describe(realm, name, help_reach::language)) add(chapters, *std::move(entry));
}

std::vector<chapter> forms(realm& realm) {
    std::vector<chapter> chapters;
    for (const special_form& row : documented_forms()) add_named(realm, chapters, row.name);
    return chapters;
}

std::vector<chapter> builtins(realm& realm) {
    std::vector<chapter> chapters;
    for (const auto rows : builtin_families()) {
        for (const builtin& row : rows) {
            if (row.name.front() != '%' && !find_special_form(row.name))
                add_named(realm, chapters, row.name);
        }
    }
    std::vector<std::string> of_host;
    realm.host().collect_names(of_host);
    for (const std::string& name : of_host) {
        if (realm.host().find_effect(name)) add_named(realm, chapters, name);
    }
    return chapters;
}

std::vector<chapter> functions(realm& realm) {
    std::vector<chapter> chapters(1);
    for (std::uint32_t i = 0; i < realm.global_count(); ++i) {
        const std::string name(realm.global_name(i));
        if (!realm.is_prelude_global(i) || name.front() == '%') continue;
        if (auto entry = describe(realm, name, help_reach::language))
            chapters[0].entries.push_back(*std::move(entry));
    }
    return chapters;
}

/// Runs a program that needs nothing from the world.
result<void> run_apart(realm& realm, const std::string& program) {
    HEDDLE_TRY(const auto forms, read_all(realm.memory(), program));
    HEDDLE_TRY(const auto code, compile(realm, forms));
    const auto self = start_fiber(realm, code);
    run_budget budget;
    outcome ended;
    do ended = machine::run(*self, budget, UINT32_MAX); // the compilation of a module takes turns
    while (ended.kind == outcome_kind::out_of_steps);
    if (ended.kind == outcome_kind::done) return {};
    if (ended.failure) return *std::move(ended.failure);
    return error(heddle::errc::internal, "a module waits for the world: " + program);
}

/// The functions that one module defines, in its order.
result<std::vector<chapter>> module_functions(realm& realm, std::string_view module) {
    lang::realm own(realm.host());
    HEDDLE_CHECK(load_prelude(own));
    const std::string full = "std/" + std::string(module);
    HEDDLE_CHECK(run_apart(own, "(import " + full + ")"));
    std::vector<chapter> chapters(1);
    for (std::uint32_t i = 0; i < own.global_count(); ++i) {
        const std::string name(own.global_name(i));
        if (own.is_prelude_global(i) || name.front() == '%') continue;
        auto entry = describe(own, name);
        if (entry && own.sources().locate(entry->place).file == full)
            chapters[0].entries.push_back(*std::move(entry));
    }
    std::sort(
        chapters[0].entries.begin(), chapters[0].entries.end(),
        [](const help_entry& a, const help_entry& b) { return a.place.begin < b.place.begin; });
    return chapters;
}

/// The comment at the head of a module: "std/text: what it is for." and paragraphs.
std::string head_comment(std::string_view text) {
    std::string out;
    while (text.starts_with(";")) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(1, end - 1);
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        if (line.empty()) out += "\n\n";
        else if (!out.empty() && out.back() != '\n') out += ' ';
        out += line;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    const std::size_t colon = out.find(": ");
    if (out.starts_with("std/") && colon != std::string::npos) out.erase(0, colon + 2);
    return capitalised(out);
}

void add_to_index(std::string& index, const std::string& link, const std::string& title,
                  const std::vector<chapter>& chapters) {
    index += "## [" + title + "](" + link + ")\n\n";
    for (const chapter& each : chapters) {
        std::string line = each.title.empty() ? "" : each.title + ":";
        for (const help_entry& entry : each.entries)
            line += (line.empty() ? "`" : " `") + entry.name + "`";
        index += (each.title.empty() ? "" : "- ") + line + "\n";
    }
    index += "\n";
}

} // namespace

result<std::vector<reference_page>> reference_pages(realm& realm) {
    std::vector<reference_page> pages;
    std::string index = std::string(made_by) + "# The language\n\n" +
                        wrapped(
                            "Every form, builtin and function, as `(help 'name)` describes them "
                            "too. The examples run as tests.",
                            width) +
                        "\n\n";
    const auto page = [&](std::string file, const std::string& title, std::string_view introduction,
                          const std::vector<chapter>& chapters) {
        add_to_index(index, file, title, chapters);
        pages.push_back({std::move(file), page_of(title, introduction, chapters)});
    };
    page("forms.md", "Special forms", "A form decides which of its parts are evaluated, and when.",
         forms(realm));
    page("builtins.md", "Builtins",
         "Functions that are built in. `x…` is any number of arguments, `[x]` an optional one.",
         builtins(realm));
    page("functions.md", "Functions of the prelude",
         "Always available and written in the language itself: the functions that take "
         "functions, and may therefore wait.",
         functions(realm));
    for (const library_source& module : stdlib_sources()) {
        const std::string full = "std/" + std::string(module.name);
        HEDDLE_TRY(const auto chapters, module_functions(realm, module.name));
        page("std/" + std::string(module.name) + ".md", full,
             "`(import " + full + ")` " + head_comment(module.text), chapters);
    }
    index.pop_back();
    pages.push_back({"README.md", std::move(index)});
    return pages;
}

} // namespace heddle::lang
