#include "rows/row_pass.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/parse_number.hpp>
#include <heddle/base/utf8.hpp>

#include <array>

namespace heddle::rows {

namespace {

struct known_format {
    std::string_view extension;
    row_format format;
};
constexpr std::array known_formats{
    known_format{".jsonl", row_format::jsonl}, known_format{".ndjson", row_format::jsonl},
    known_format{".csv", row_format::csv},     known_format{".tsv", row_format::tsv},
    known_format{".tab", row_format::tsv},     known_format{".txt", row_format::lines}};

constexpr std::string_view formats_to_name = "jsonl, csv, tsv or lines";

} // namespace

std::optional<row_format> row_format_of(std::string_view name) noexcept {
    if (name == "auto") return row_format::automatic;
    if (name == "jsonl") return row_format::jsonl;
    if (name == "csv") return row_format::csv;
    if (name == "tsv") return row_format::tsv;
    if (name == "lines") return row_format::lines;
    return std::nullopt;
}

result<row_format> resolved_format(const std::string& file, row_format wanted, bool regular) {
    if (wanted != row_format::automatic) return wanted;
    if (file == "-") return row_format::jsonl;
    const std::string name = ascii::to_lower(file);
    std::string_view rest = name;
    for (const std::string_view packed : {".gz", ".zst"})
        if (rest.ends_with(packed)) rest.remove_suffix(packed.size());
    for (const known_format& known : known_formats)
        if (rest.ends_with(known.extension)) return known.format;
    if (!regular) return row_format::jsonl;
    error unknown(errc::invalid_argument, file + ": the extension is not that of a format of rows");
    if (rest.ends_with(".json"))
        return std::move(unknown).with_hint("rows are JSON values on a line each: jq -c '.[]' " +
                                            file + " > rows.jsonl");
    if (rest.ends_with(".xz") || rest.ends_with(".bz2"))
        return std::move(unknown).with_hint("only gzip and zstd are read: decompress it first");
    return std::move(unknown).with_hint("name the format: " + std::string(formats_to_name));
}

result<row_sample> parse_row_sample(std::string_view text, std::uint64_t seed) {
    const error invalid =
        error(errc::invalid_argument,
              "invalid sample '" + std::string(utf8::prefix(text, 80)) + "'")
            .with_hint("a number of rows such as 500, or a fraction such as 0.05 or 5%");
    const bool percent = text.ends_with('%');
    const std::string_view digits = percent ? text.substr(0, text.size() - 1) : text;
    if (!percent) {
        if (const auto count = parse_number<std::uint64_t>(digits)) {
            if (*count == 0) return invalid;
            return row_sample{*count, seed};
        }
    }
    const auto number = parse_number<double>(digits, std::chars_format::fixed);
    if (!number) return invalid;
    const double fraction = percent ? *number / 100 : *number;
    if (!(fraction > 0 && fraction <= 1)) return invalid;
    return row_sample{fraction, seed};
}

} // namespace heddle::rows
