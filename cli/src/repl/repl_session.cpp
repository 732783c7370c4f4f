#include "repl/repl_session.hpp"

#include "failure_hints.hpp"
#include "repl/display.hpp"
#include "report_error.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/help.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/machine.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/setup/input_files.hpp>
#include <heddle/tasks/output/task_result.hpp>

#include <algorithm>

namespace heddle::cli {

namespace {

constexpr std::size_t max_shown_bytes = 2000;
constexpr std::size_t max_pending_bytes = std::size_t{64} << 20;
constexpr std::size_t small_input = 64 << 10;

/// (help …) returns text for people.
bool asks_for_help(const lang::value& form) {
    if (!form.is(lang::kind::list) || form.length() == 0) return false;
    const lang::value& head = lang::list_items(form)[0];
    return head.is(lang::kind::symbol) && lang::symbol_name(head) == "help";
}

/// The name that (define name …) or (define (name …) …) redefines, if the language has one now.
std::string name_hidden_by(const lang::value& form, lang::realm& realm) {
    if (!form.is(lang::kind::list) || form.length() < 2) return {};
    const auto items = lang::list_items(form);
    const bool defines =
        items[0].is(lang::kind::symbol) &&
        (lang::symbol_name(items[0]) == "define" || lang::symbol_name(items[0]) == "defmacro");
    if (!defines) return {};
    const bool has_parameters = items[1].is(lang::kind::list) && items[1].length() != 0;
    const lang::value& name = has_parameters ? lang::list_items(items[1])[0] : items[1];
    if (!name.is(lang::kind::symbol)) return {};
    const auto entry = lang::describe(realm, lang::symbol_name(name));
    const bool of_language = entry && (entry->kind == lang::help_kind::special_form ||
                                       entry->kind == lang::help_kind::builtin ||
                                       entry->kind == lang::help_kind::library_function);
    return of_language ? std::string(lang::symbol_name(name)) : std::string();
}

/// Words that leave other programs of this kind.
bool means_to_leave(const error& failure) {
    return failure.code() == lang::errc::unbound &&
           (failure.message().ends_with("'exit'") || failure.message().ends_with("'quit'"));
}

} // namespace

repl_session::repl_session(parts given) : parts_(given) {
    for (const char* name : {"*1", "*2", "*3", "*e"}) parts_.session->define(name, {});
}

// ---------------------------------------------------------------- reading

exit_code repl_session::run(line_reader& lines) {
    bool terminated = false;
    lines_ = &lines;
    while (!leaving_) {
        const line_read next = lines.next(!pending_.empty());
        terminated = next.how == line_read::outcome::terminated;
        if (terminated) break;
        if (next.how == line_read::outcome::interrupted) {
            pending_.clear();
            end_entry();
        } else if (next.how == line_read::outcome::failed) {
            report_mistake("standard input: cannot be read: " + next.text);
            return exit_code::usage;
        } else if (next.how == line_read::outcome::end) {
            at_end();
            break;
        } else {
            take_line(next.text);
            terminated = parts_.runs->terminated();
            if (terminated) break;
        }
    }
    end_entry();
    lines_ = nullptr;
    if (terminated) return exit_code::interrupted;
    return failed_ && !parts_.interactive ? exit_code::failed : exit_code::done;
}

void repl_session::take_line(const std::string& line) {
    const std::size_t number = next_line_;
    next_line_ += 1 + static_cast<std::size_t>(std::count(line.begin(), line.end(), '\n'));
    const bool colon = line.starts_with(':');
    // A long expression is not read again from its beginning for every line that comes.
    const auto wait_for_more = [&] {
        return !parts_.interactive && pending_.size() > small_input &&
               pending_.size() < looked_at_ + looked_at_ / 8;
    };
    if (colon && !pending_.empty() && wait_for_more()) (void)evaluate_pending();
    if (colon && pending_.empty()) {
        end_entry();
        return run_command(line);
    }
    if (pending_.empty()) {
        first_line_ = number;
        looked_at_ = 0;
    }
    pending_ += line + "\n";
    if (wait_for_more()) return;
    if (!evaluate_pending() && pending_.size() > max_pending_bytes) {
        pending_.clear();
        report_mistake("an expression of more than 64 MB was dropped");
    }
}

/// False when the text so far is only the beginning of something.
bool repl_session::evaluate_pending() {
    looked_at_ = pending_.size();
    const auto look = lang::read_all(parts_.session->memory(), pending_);
    if (!look && lang::needs_more_input(look.error())) return false;
    const std::string text = std::exchange(pending_, {});
    end_entry(); // before it is evaluated: a program that never ends is in the history, too
    (void)evaluate_text(parts_.interactive ? "<repl>" : "<stdin>", text, first_line_, showing::all);
    return true;
}

void repl_session::end_entry() {
    if (lines_) lines_->end_entry();
}

/// What is still open when the input ends is an error.
void repl_session::at_end() {
    if (pending_.empty()) return;
    const std::string text = std::exchange(pending_, {});
    if (parts_.interactive) return;
    (void)evaluate_text("<stdin>", text, first_line_, showing::all);
}

// ---------------------------------------------------------------- evaluating

bool repl_session::load(const std::string& path) {
    const auto text = setup::read_input_file(path);
    if (!text) {
        report(text.error());
        return false;
    }
    return evaluate_text(path, *text, 1, showing::last);
}

bool repl_session::evaluate_text(const std::string& name, const std::string& text,
                                 std::size_t first_line, showing what) {
    host::session& session = *parts_.session;
    const std::uint32_t position =
        session.realm().sources().add(name, text, static_cast<std::uint32_t>(first_line));
    lang::read_options options;
    options.first_line = first_line;
    auto forms = lang::read_all(session.memory(), text, position, options);
    if (!forms) {
        report(std::move(forms).error());
        return false;
    }
    bool good = true;
    for (std::size_t i = 0; i < forms->size(); ++i) {
        const bool as_text = asks_for_help((*forms)[i].content);
        const std::string hidden = name_hidden_by((*forms)[i].content, session.realm());
        auto ended = parts_.runs->run({(*forms)[i]});
        if (!ended) {
            good = false;
            report(std::move(ended).error());
            // A script goes on, as if each expression had come by itself; people look first.
            if (parts_.interactive || what == showing::last) break;
        } else {
            keep(*ended);
            warn_of_hidden(hidden);
            if (what == showing::all || i + 1 == forms->size()) show(*ended, as_text);
        }
        if (parts_.runs->terminated()) break;
    }
    return good;
}

/// The last values, newest first.
void repl_session::keep(const lang::value& content) {
    host::session& session = *parts_.session;
    session.define("*3", session.global("*2").value_or(lang::value()));
    session.define("*2", session.global("*1").value_or(lang::value()));
    session.define("*1", content);
}

// ---------------------------------------------------------------- showing

void repl_session::show(const lang::value& content, bool as_text) {
    if (as_text && content.is(lang::kind::string)) {
        parts_.output->out(lang::string_bytes(content));
        return;
    }
    const console_traits& traits = parts_.output->traits();
    const std::size_t most = parts_.interactive ? max_shown_bytes : SIZE_MAX;
    const bool colour = traits.out_is_terminal && traits.colour;
    if (parts_.interactive && tasks::is_task_result(content)) {
        parts_.output->out_styled(show_task_result(content, most, colour, columns()));
        return;
    }
    const shown_value result = show_value(content, most, colour, columns());
    parts_.output->out_styled(result.text + "\n");
    if (result.was_cut) parts_.output->out("cut: :last shows all of it\n");
}

std::size_t repl_session::columns() const {
    constexpr std::size_t least = 20;
    const console_traits& traits = parts_.output->traits();
    if (!parts_.interactive || !traits.out_is_terminal) return 0;
    const std::size_t known = parts_.output->columns();
    return known == 0 ? 0 : std::max(known, least);
}

void repl_session::warn_of_hidden(const std::string& name) const {
    if (name.empty()) return;
    parts_.output->err("warning: your '" + name + "' hides that of the language in this session\n");
}

void repl_session::report(error failure) {
    failed_ = true;
    failure = with_model_hint(std::move(failure), parts_.tools->has_services());
    failure = with_map_hint(std::move(failure));
    if (means_to_leave(failure)) failure = std::move(failure).with_hint(":quit or Ctrl-D leaves");
    host::session& session = *parts_.session;
    session.define("*e", lang::describe_error(session.realm(), failure));
    if (failure.cancelled_because() == cancel_reason::user) {
        const call_counts counts = parts_.runs->counts();
        parts_.output->err("interrupted" + (counts.any() ? ": " + counts.summary() : "") + "\n");
        return;
    }
    parts_.output->err_styled(session.render(failure, parts_.output->err_in_colour()));
}

void repl_session::report_mistake(const std::string& message, const std::string& hint) {
    failed_ = true;
    error failure(errc::invalid_argument, message);
    if (!hint.empty()) failure = std::move(failure).with_hint(hint);
    (void)report_usage_error(failure, false, *parts_.output);
}

} // namespace heddle::cli
