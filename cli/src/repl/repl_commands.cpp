// The commands of a session, which begin with a colon.
#include "repl/repl_session.hpp"

#include "repl/display.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/lang/help.hpp>
#include <heddle/lang/machine.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/setup/display_text.hpp>

#include <array>
#include <chrono>
#include <cstdio>

namespace heddle::cli {

namespace {

std::string in_milliseconds(std::chrono::steady_clock::duration took) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.2f ms",
                  std::chrono::duration<double, std::milli>(took).count());
    return text.data();
}

} // namespace

struct repl_session::command {
    std::string_view name;
    std::string_view argument;
    std::string_view summary;
    void (repl_session::*run)(std::string_view rest);
};

std::span<const repl_session::command> repl_session::commands() noexcept {
    static constexpr std::array<command, 8> rows{{
        {":help", "", "List the commands", &repl_session::help},
        {":doc", "NAME", "Show the documentation of a name, as (help 'NAME)", &repl_session::doc},
        {":load", "FILE", "Evaluate a file and print its last value", &repl_session::load_file},
        {":time", "EXPR", "Evaluate, and print how long it took", &repl_session::time},
        {":prompt", "CALL", "Show the request of a call, such as judge \"text\", and send nothing",
         &repl_session::prompt},
        {":last", "", "Print the last value in full", &repl_session::last},
        {":undefine", "NAME", "Remove your definition of a name; it has its earlier meaning again",
         &repl_session::undefine},
        {":quit", "", "Leave; Ctrl-D does the same", &repl_session::quit},
    }};
    return rows;
}

std::span<const std::string_view> repl_session::command_names() noexcept {
    static const std::vector<std::string_view> names = [] {
        std::vector<std::string_view> views;
        for (const command& each : commands()) views.push_back(each.name);
        return views;
    }();
    return names;
}

void repl_session::run_command(std::string_view line) {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    const std::string_view name = line.substr(0, end);
    const std::string_view rest = ascii::trim(line.substr(end));
    for (const command& each : commands()) {
        if (each.name != name) continue;
        if (each.argument.empty() != rest.empty()) {
            return report_mistake(std::string(name) + (rest.empty() ? " needs " : " takes no ") +
                                  (rest.empty() ? std::string(each.argument) : "argument"));
        }
        return (this->*each.run)(rest);
    }
    std::vector<std::string> known(command_names().begin(), command_names().end());
    std::string hint = lang::suggest_names(name, known);
    report_mistake("there is no command " + std::string(name),
                   hint.empty() ? ":help lists the commands" : hint);
}

void repl_session::help(std::string_view) {
    std::string text;
    for (const command& each : commands()) {
        std::string line = "  " + std::string(each.name) + " " + std::string(each.argument);
        line.resize(std::max<std::size_t>(line.size(), 14), ' ');
        text += line + "  " + std::string(each.summary) + "\n";
    }
    text +=
        "(help) lists the names of the language, (help 'map) describes one. *1 *2 *3 are the\n"
        "last values, *e the last error.\n";
    parts_.output->out(text);
}

void repl_session::doc(std::string_view name) {
    if (name.starts_with("'")) name.remove_prefix(1);
    lang::realm& realm = parts_.session->realm();
    auto found = lang::describe(realm, name);
    if (!found) return report(std::move(found).error());
    parts_.output->out(lang::help_text(realm, *found));
}

void repl_session::load_file(std::string_view path) { (void)load(std::string(path)); }

void repl_session::time(std::string_view expression) {
    const auto began = std::chrono::steady_clock::now();
    const std::uint64_t before = parts_.tools->counts().requests;
    (void)evaluate_text(":time", std::string(expression), 1, showing::last);
    const std::uint64_t requests = parts_.tools->counts().requests - before;
    std::string text = in_milliseconds(std::chrono::steady_clock::now() - began);
    if (requests != 0) text += ", " + setup::counted(requests, "request");
    parts_.output->out(text + "\n");
}

/// Shows the first request of a call, with or without its brackets, or of any expression.
void repl_session::prompt(std::string_view call) {
    if (!parts_.capture) return report_mistake("this session shows no requests");
    std::string text(call);
    if (!text.starts_with('(')) text = "(" + text + ")";
    lang::heap& memory = parts_.session->memory();
    const std::uint32_t position = parts_.session->realm().sources().add(":prompt", text, 1);
    auto forms = lang::read_all(memory, text, position);
    if (!forms) return report(std::move(forms).error());
    parts_.capture->begin();
    auto ended = parts_.runs->run(*std::move(forms));
    const auto captured = parts_.capture->end();
    if (captured) {
        const request_estimate estimate = estimate_of(*captured, parts_.tools->prices());
        parts_.output->out(captured_text(*captured, estimate, {}));
    } else if (!ended) {
        report(std::move(ended).error());
    } else {
        report_mistake("no request: " + text + " calls no model");
    }
}

void repl_session::last(std::string_view) {
    const auto content = parts_.session->global("*1");
    constexpr std::size_t bound = std::size_t{64} << 20; // shared parts may have a text without end
    const shown_value all = show_value(content.value_or(lang::value()), bound, false, columns());
    parts_.output->out(all.text + "\n");
}

void repl_session::undefine(std::string_view name) {
    lang::realm& realm = parts_.session->realm();
    const auto content = parts_.session->global(name);
    const lang::host_object* callee = content ? lang::host_of(*content) : nullptr;
    if (callee && realm.host().describe_callable(*callee)) {
        report_mistake("'" + std::string(name) +
                       "' is a task or a tool, which stays defined; define it again to change it");
    } else if (!realm.undefine(name)) {
        report_mistake("this session has no definition of '" + std::string(name) + "'");
    }
}

void repl_session::quit(std::string_view) { leaving_ = true; }

} // namespace heddle::cli
