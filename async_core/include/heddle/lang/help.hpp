// The documentation of the language and of a program, from one source: the tables of forms and
// builtins, docstrings, and the documentation of tasks by the host.
//
// A docstring is the string that the body of a function or macro begins with. Its first sentence is
// the summary; its last lines, from one that begins with a bracket or a quote, are examples
// "(f 1) => 2".
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/source.hpp>
#include <heddle/lang/realm.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::lang {

enum class help_kind : std::uint8_t {
    special_form,
    builtin,
    library_function, ///< of the prelude
    function,         ///< of the program
    macro,
    task,
    tool,
    value
};

/// "special form", "builtin", …
[[nodiscard]] std::string_view to_string(help_kind kind) noexcept;

struct help_entry {
    help_kind kind = help_kind::value;
    std::string name;
    std::string usage;                 ///< one line for each way to write it
    std::string summary;               ///< one sentence; may be empty
    std::string details;               ///< the rest, in paragraphs; may be empty
    std::vector<std::string> examples; ///< "(f 1) => 2", each a line or more
    std::string family;                ///< "lists", "binding", "world"; empty for a program's own
    source_span place;                 ///< of the definition, if there is one
};

/// What help covers: everything, or (for code in a sandbox) only the language.
enum class help_reach : std::uint8_t { everything, language };

/// What a name means at the top level now: a definition of the program takes precedence over the
/// language.
/// Errors: UnboundSymbolError with similar names.
[[nodiscard]] result<help_entry> describe(realm& realm, std::string_view name,
                                          help_reach reach = help_reach::everything);

/// A function, builtin, task or tool as a value. Nothing for other values.
[[nodiscard]] std::optional<help_entry> describe_callable(realm& realm, const value& callable);

/// Usage, summary, details, examples and, for definitions of a program, the position. Ends in a
/// line end.
[[nodiscard]] std::string help_text(const realm& realm, const help_entry& entry);

/// The modules of the standard library, as (import …) takes them: "std/lists".
[[nodiscard]] std::vector<std::string> library_modules();

/// All names and modules by kind and family, in lines of at most 80 characters.
[[nodiscard]] std::string help_overview(realm& realm, help_reach reach = help_reach::everything);

/// A page of the reference, as Markdown. `file` is a path below the folder of the reference.
struct reference_page {
    std::string file;
    std::string text;
};
/// The reference of the language: forms, builtins (the host's too), functions, and a page for
/// each module of the standard library. Definitions of programs are not included. Errors: a module
/// that does not load.
[[nodiscard]] result<std::vector<reference_page>> reference_pages(realm& realm);

/// A docstring taken apart.
struct docstring {
    std::string summary;
    std::string details;
    std::vector<std::string> examples;
};
[[nodiscard]] docstring parse_docstring(std::string_view text);

/// Splits lines "(form) => value" into examples; a line without an arrow belongs to the next
/// example.
[[nodiscard]] std::vector<std::string> split_examples(std::string_view lines);

} // namespace heddle::lang
