#include "tasks/definition/file_paths_clause.hpp"

#include "tasks/definition/field_clauses.hpp"

#include <heddle/lang/errors.hpp>

#include <optional>

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
        static const std::vector<std::string> known{"source",  "path",        "paths",
                                                    "command", "description", "context_query"};
        return refused(where, "has no setting '" + std::string(name) + "'")
            .with_hint(known_names_hint(name, known, "settings"));
    }

    [[nodiscard]] result<void> take_path(const source_form& content) {
        if (!content.is_string()) return unfit("a path", "a string", content);
        if (auto fits = check_file_path(content.text()); !fits) {
            return std::move(fits).error().with_span(content.span);
        }
        if (paths_.paths.size() >= max_file_paths) {
            return refused(content.span,
                           "has more than " + std::to_string(max_file_paths) + " paths");
        }
        paths_.paths.emplace_back(content.text());
        return said(file_paths_source::kind::literal, content.span);
    }

    [[nodiscard]] result<file_paths_source> finish(source_span where) {
        if (source_ && content_ && *source_ != *content_) {
            return refused(where, "names a source, but has the text that another source needs")
                .with_hint("leave source out: it follows from what is given");
        }
        if (source_ && !content_ && *source_ != file_paths_source::kind::literal) {
            return refused(where, "has a source without its text")
                .with_hint("add (command \"…\"), (description \"…\") or (context_query \"…\")");
        }
        paths_.from = content_.value_or(file_paths_source::kind::literal);
        return std::move(paths_);
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
            return unfit(name, "a non-empty string", content);
        }
        if (content.text().size() > max_context_query_length) {
            return refused(content.span, std::string(name) + " is too long");
        }
        HEDDLE_CHECK(said(kind, content.span));
        paths_.text = content.text();
        return {};
    }

    file_paths_source paths_;
    std::optional<file_paths_source::kind> source_;  ///< as named
    std::optional<file_paths_source::kind> content_; ///< as follows from what is given
};

} // namespace

result<void> check_file_path(std::string_view path) {
    if (path.empty()) return error(lang::errc::evaluation, "a path must not be empty");
    if (path.size() > max_file_path_length) {
        return error(lang::errc::evaluation,
                     "a path is longer than " + std::to_string(max_file_path_length) + " bytes");
    }
    if (path.find('\0') != std::string_view::npos) {
        return error(lang::errc::evaluation, "a path holds a zero byte");
    }
    return {};
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
