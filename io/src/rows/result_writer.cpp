#include <heddle/rows/result_writer.hpp>

#include "rows/sqlite_results.hpp"
#include "rows/text_results.hpp"

#include <sys/stat.h>

namespace heddle::rows {

namespace {

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> extensions) {
    for (const std::string_view extension : extensions)
        if (name.ends_with(extension)) return true;
    return false;
}

} // namespace

result<result_format> resolved_format(const result_output& output) {
    if (output.format != result_format::automatic) return output.format;
    const std::string& file = output.target.file;
    if (file == "-" || ends_with_any(file, {".jsonl", ".ndjson"})) return result_format::jsonl;
    if (ends_with_any(file, {".csv"})) return result_format::csv;
    if (ends_with_any(file, {".tsv", ".tab"})) return result_format::tsv;
    if (ends_with_any(file, {".db", ".sqlite", ".sqlite3"})) return result_format::sqlite;
    struct stat about {};
    if (::stat(file.c_str(), &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
        return result_format::jsonl;
    return error(errc::invalid_argument,
                 file + ": the extension is not that of a format of results")
        .with_hint("use .jsonl, .csv, .tsv or .sqlite, or name the format");
}

std::optional<result_format> result_format_of(std::string_view name) noexcept {
    if (name == "auto") return result_format::automatic;
    if (name == "jsonl") return result_format::jsonl;
    if (name == "csv") return result_format::csv;
    if (name == "tsv") return result_format::tsv;
    if (name == "sqlite") return result_format::sqlite;
    return std::nullopt;
}

result<std::unique_ptr<result_writer>> result_writer::open(result_output output) {
    HEDDLE_TRY(const result_format format, resolved_format(output));
    switch (format) {
    case result_format::csv: return open_delimited_results(output, ',');
    case result_format::tsv: return open_delimited_results(output, '\t');
    case result_format::sqlite: return open_sqlite_results(output);
    case result_format::automatic:
    case result_format::jsonl: break;
    }
    return open_jsonl_results(output);
}

} // namespace heddle::rows
