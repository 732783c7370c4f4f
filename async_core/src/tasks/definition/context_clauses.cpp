#include "tasks/definition/context_clauses.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/definition/effective_context.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

namespace heddle::tasks {

namespace {

[[nodiscard]] error refused(source_span where, std::string what) {
    return error(lang::errc::evaluation, std::move(what)).with_span(where);
}

[[nodiscard]] error unfit(std::string_view name, std::string_view wanted,
                          const source_form& given) {
    return refused(given.span, std::string(name) + " must be " + std::string(wanted) + ", not " +
                                   given.shown());
}

/// The name of a symbol or the text of a string; nothing for other values.
[[nodiscard]] std::optional<std::string_view> word_of(const source_form& given) {
    if (!given.is_symbol() && !given.is_string()) return std::nullopt;
    return given.text();
}

[[nodiscard]] result<bool> boolean_of(std::string_view name, const source_form& given) {
    if (given.content.is_boolean()) return given.content.as_boolean();
    const auto word = word_of(given);
    if (word == "true") return true;
    if (word == "false") return false;
    return unfit(name, "true or false", given);
}

[[nodiscard]] error unknown(std::string_view name, source_span where,
                            std::span<const std::string_view> known) {
    std::string all = "settings:";
    for (const std::string_view one : known) all += " " + std::string(one);
    return refused(where, "has no setting '" + std::string(name) + "'").with_hint(std::move(all));
}

/// Calls read(name, value) for each entry of a list of pairs or a map whose value is not nil.
template <class Read>
[[nodiscard]] result<void> for_each_setting(const source_form& given,
                                            std::span<const std::string_view> known, Read read) {
    std::vector<std::string> seen;
    const auto take = [&](std::string_view written, const source_form& content,
                          source_span where) -> result<void> {
        std::string name = snake_case(written);
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            return unknown(name, where, known);
        }
        if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
            return refused(where, "says " + name + " twice");
        }
        if (!content.content.is_nil()) HEDDLE_CHECK(read(std::string_view(name), content));
        seen.push_back(std::move(name));
        return {};
    };
    if (given.content.is(lang::kind::map)) {
        for (const lang::map_entry& entry : lang::map_entries(given.content)) {
            const source_form content{entry.item, given.span};
            HEDDLE_CHECK(take(lang::string_bytes(entry.key), content, given.span));
        }
        return {};
    }
    for (std::size_t i = 0; given.is_list() && i < given.size(); ++i) {
        const source_form pair = given[i];
        if (!pair.is_list() || pair.size() != 2 || !word_of(pair[0])) {
            return refused(given.span, "must be a list of (name value), not " + given.shown());
        }
        HEDDLE_CHECK(take(pair[0].text(), pair[1].unquoted(), pair.span));
    }
    if (given.is_list() || given.content.is_nil()) return {};
    return refused(given.span, "must be a list of (name value) or a map, not " + given.shown());
}

[[nodiscard]] result<bool> fresh_of(const source_form& given) {
    const auto word = word_of(given);
    if (word == "enabled") return true;
    if (word == "disabled") return false;
    return unfit("fresh_context", "\"enabled\" or \"disabled\"", given);
}

/// Collects the parts of a file_paths clause that is written as pairs.
class file_paths_reader {
public:
    [[nodiscard]] result<void> take(std::string_view name, const source_form& content,
                                    source_span where) {
        if (name == "source") return take_source(content, where);
        if (name == "path") return take_path(content);
        if (name == "paths") {
            if (!content.is_list()) return unfit(name, "a list of strings", content);
            for (std::size_t i = 0; i < content.size(); ++i) HEDDLE_CHECK(take_path(content[i]));
            return said(file_paths_source::kind::literal, where);
        }
        if (name == "command") return take_text(name, content, file_paths_source::kind::command);
        if (name == "description") {
            return take_text(name, content, file_paths_source::kind::description);
        }
        if (name == "context_query" || name == "context_description") {
            return take_text("context_query", content,
                             file_paths_source::kind::context_description);
        }
        static constexpr std::array<std::string_view, 6> known{
            "source", "path", "paths", "command", "description", "context_query"};
        return unknown(name, where, known);
    }

    [[nodiscard]] result<void> take_path(const source_form& content) {
        if (!content.is_string()) return unfit("a path", "a string", content);
        if (auto fits = check_file_path(content.text()); !fits) {
            return std::move(fits).error().with_span(content.span);
        }
        if (made_.paths.size() >= most_file_paths) {
            return refused(content.span,
                           "has more than " + std::to_string(most_file_paths) + " paths");
        }
        made_.paths.emplace_back(content.text());
        return said(file_paths_source::kind::literal, content.span);
    }

    [[nodiscard]] result<file_paths_source> finish(source_span where) {
        if (source_ && content_ && *source_ != *content_) {
            return refused(where, "names a source and gives what another one needs")
                .with_hint("leave source out: it follows from what is given");
        }
        if (source_ && !content_ && *source_ != file_paths_source::kind::literal) {
            return refused(where, "has a source without its text")
                .with_hint("add (command \"…\"), (description \"…\") or (context_query \"…\")");
        }
        made_.from = content_.value_or(file_paths_source::kind::literal);
        return std::move(made_);
    }

private:
    [[nodiscard]] result<void> said(file_paths_source::kind kind, source_span where) {
        if (content_ && *content_ != kind) {
            return refused(where, "mixes paths, a command, a description and a query");
        }
        content_ = kind;
        return {};
    }

    [[nodiscard]] result<void> take_source(const source_form& content, source_span where) {
        using kind = file_paths_source::kind;
        const auto word = word_of(content);
        if (word == "literal") source_ = kind::literal;
        else if (word == "command") source_ = kind::command;
        else if (word == "description") source_ = kind::description;
        else if (word == "context_description") source_ = kind::context_description;
        else {
            return refused(where,
                           "source must be \"literal\", \"command\", \"description\" or "
                           "\"context_description\", not " +
                               content.shown());
        }
        return {};
    }

    [[nodiscard]] result<void> take_text(std::string_view name, const source_form& content,
                                         file_paths_source::kind kind) {
        if (!content.is_string() || content.text().empty()) {
            return unfit(name, "a string that is not empty", content);
        }
        if (content.text().size() > longest_context_query) {
            return refused(content.span, std::string(name) + " is too long");
        }
        HEDDLE_CHECK(said(kind, content.span));
        made_.text = content.text();
        return {};
    }

    file_paths_source made_;
    std::optional<file_paths_source::kind> source_;  ///< as named
    std::optional<file_paths_source::kind> content_; ///< as follows from what is given
};

} // namespace

std::string snake_case(std::string_view name) {
    std::string made;
    for (const char c : name) {
        if (ascii::is_upper(c)) {
            if (!made.empty() && made.back() != '_') made += '_';
            made += ascii::to_lower(c);
        } else made += c == '-' ? '_' : c;
    }
    return made;
}

result<void> check_file_path(std::string_view path) {
    if (path.empty()) return error(lang::errc::evaluation, "a path must not be empty");
    if (path.size() > longest_file_path) {
        return error(lang::errc::evaluation,
                     "a path is longer than " + std::to_string(longest_file_path) + " bytes");
    }
    if (path.find('\0') != std::string_view::npos) {
        return error(lang::errc::evaluation, "a path holds a zero byte");
    }
    return {};
}

result<context_management> read_context_management(const source_form& given) {
    static constexpr std::array<std::string_view, 4> known{
        "inherit_context", "fresh_context", "accumulate_data", "accumulation_format"};
    context_management made;
    const auto read = [&](std::string_view name, const source_form& content) -> result<void> {
        if (name == "fresh_context") {
            HEDDLE_TRY(made.fresh_context, fresh_of(content));
        } else if (name == "accumulate_data") {
            HEDDLE_TRY(made.accumulate_data, boolean_of(name, content));
        } else if (name == "inherit_context") {
            made.inherit_context = inherit_mode_from(word_of(content).value_or(""));
            if (!made.inherit_context) {
                return unfit(name, "\"full\", \"subset\" or \"none\"", content);
            }
        } else {
            made.accumulation_format = accumulation_from(word_of(content).value_or(""));
            if (!made.accumulation_format) {
                return unfit(name, "\"notes_only\" or \"full_output\"", content);
            }
        }
        return {};
    };
    HEDDLE_CHECK(for_each_setting(given, known, read));
    return made;
}

result<history_config> read_history_config(const source_form& given) {
    static constexpr std::array<std::string_view, 3> known{
        "use_session_history", "history_turns_to_include", "record_in_session_history"};
    history_config made;
    const auto read = [&](std::string_view name, const source_form& content) -> result<void> {
        if (name == "use_session_history") {
            HEDDLE_TRY(made.use_session_history, boolean_of(name, content));
        } else if (name == "record_in_session_history") {
            HEDDLE_TRY(made.record_in_session_history, boolean_of(name, content));
        } else {
            if (!content.content.is_integer() || content.content.as_integer() < 0) {
                return unfit(name, "a whole number from 0, or nil for all", content);
            }
            made.history_turns_to_include = content.content.as_integer();
        }
        return {};
    };
    HEDDLE_CHECK(for_each_setting(given, known, read));
    return made;
}

result<file_paths_source> read_file_paths(const source_form& given) {
    file_paths_reader reader;
    if (!given.is_list()) {
        return refused(given.span,
                       "must be a list of paths or of (name value), not " + given.shown());
    }
    for (std::size_t i = 0; i < given.size(); ++i) {
        const source_form part = given[i];
        if (part.is_string()) {
            HEDDLE_CHECK(reader.take_path(part));
            continue;
        }
        if (!part.is_list() || part.size() != 2 || !part[0].is_symbol()) {
            return refused(part.span,
                           "must be a list of paths or of (name value), not " + given.shown());
        }
        HEDDLE_CHECK(reader.take(snake_case(part[0].text()), part[1].unquoted(), part.span));
    }
    return reader.finish(given.span);
}

} // namespace heddle::tasks
