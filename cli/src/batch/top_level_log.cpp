#include "batch/top_level_log.hpp"

#include "batch/packed_bytes.hpp"
#include "batch/run_identity.hpp"

#include <heddle/rows/row.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace heddle::cli {

namespace {

/// Steps whose answers earlier versions of heddle counted as a part of the program, as builtins and
/// as tools.
[[nodiscard]] bool reads_a_source(std::string_view step) noexcept {
    constexpr std::string_view prefix = "tool ";
    if (step.starts_with(prefix)) step.remove_prefix(prefix.size());
    constexpr std::array<std::string_view, 6> names{"read-file",         "file-exists?",
                                                    "list-directory",    "getenv",
                                                    "system:read_files", "system:list_directory"};
    return std::find(names.begin(), names.end(), step) != names.end();
}

} // namespace

top_level_notes::top_level_notes(std::uint64_t seed, std::vector<ports::step_record> records,
                                 std::vector<program_source> sources)
    : seed_(seed) {
    keep(std::move(records));
    sources_ = std::move(sources);
}

void top_level_notes::keep(std::vector<ports::step_record> records) {
    if (std::exchange(has_records_, true)) return;
    records_ = std::move(records);
    std::map<ports::digest128, std::string> reads; // in an order that does not depend on chance
    std::size_t bytes = 0;
    for (ports::step_record& each : records_) {
        if (reads_a_source(each.name))
            reads[each.path] = each.name + ' ' + hex_of(rows::digest_of_content(each.body));
        bytes += each.body.size();
        // A record without an answer has its step asked again.
        if (bytes > max_kept_bytes && each.kind == ports::step_kind::answer) each.body.clear();
    }
    std::string all;
    for (const auto& [path, text] : reads) all += text + '\n';
    if (!all.empty()) reads_ = hex_of(rows::digest_of_content(all));
}

std::string top_level_notes::digest_of_sources() const {
    if (sources_.empty()) return {};
    packed_bytes all;
    for (const program_source& each : sources_) {
        all.add(static_cast<std::uint64_t>(each.what));
        all.add(std::string_view(each.asked));
        all.add(std::string_view(each.digest));
    }
    return hex_of(rows::digest_of_content(all.take()));
}

} // namespace heddle::cli
