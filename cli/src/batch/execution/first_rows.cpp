#include "batch/execution/first_rows.hpp"

#include <heddle/base/json_parser.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace heddle::cli {

namespace {

constexpr std::size_t max_row_depth = 1000; ///< rows are bounded when they are read

/// Nothing: the row has all columns.
std::optional<error> misfit_of(const rows::row& row, const needed_columns& needed) {
    if (needed.of_main.empty()) return std::nullopt;
    boost::system::error_code wrong;
    const boost::json::value parsed = parse_json(row.json, wrong, max_row_depth);
    if (wrong || !parsed.is_object()) return std::nullopt;
    std::vector<std::string> columns;
    for (const auto& member : parsed.get_object()) columns.emplace_back(member.key());
    auto fits = needed_columns{needed.of_main, {}}.look(columns);
    if (fits) return std::nullopt;
    return error(errc::invalid_argument,
                 *row.file + ", line " + std::to_string(row.line) + ": " + fits.error().message())
        .with_hint(fits.error().info().hint);
}

} // namespace

bool first_rows::rejects(const rows::row_item& item, const std::optional<error>& problem) {
    if (accepted_) return false;
    std::optional<error> why = problem;
    if (const auto* row = std::get_if<rows::row>(&item); row && !why)
        why = misfit_of(*row, needed_);
    accepted_ = !why;
    if (accepted_) return false;
    if (!first_) first_ = std::move(why);
    ++rejected_;
    return true;
}

std::optional<error> first_rows::look(const rows::row_item& item,
                                      const std::optional<error>& problem) {
    if (!rejects(item, problem) || rejected_ < enough) return std::nullopt;
    return error(errc::invalid_argument, "none of the first " + std::to_string(enough) +
                                             " rows can run: " + first_->message())
        .with_hint(first_->info().hint);
}

} // namespace heddle::cli
