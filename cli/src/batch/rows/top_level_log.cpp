#include "batch/rows/top_level_log.hpp"

#include "sources/digest_text.hpp"
#include "sources/packed_bytes.hpp"

#include <heddle/rows/row.hpp>

#include <algorithm>
#include <array>
#include <iterator>
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

[[nodiscard]] std::string digest_of_reads_in(const std::vector<ports::step_record>& records) {
    std::map<ports::digest128, std::string> reads; // in an order that does not depend on chance
    for (const ports::step_record& each : records) {
        if (reads_a_source(each.name))
            reads[each.path] = each.name + ' ' + hex_of(rows::digest_of_content(each.body));
    }
    std::string all;
    for (const auto& [path, text] : reads) all += text + '\n';
    return all.empty() ? std::string() : hex_of(rows::digest_of_content(all));
}

} // namespace

top_level_notes::top_level_notes(std::uint64_t seed, std::vector<ports::step_record> records,
                                 std::vector<program_source> sources)
    : seed_(seed), has_records_(true),
      records_(std::make_shared<std::vector<ports::step_record>>(std::move(records))),
      sources_(std::move(sources)), reads_(digest_of_reads_in(*records_)) {}

void top_level_notes::keep(std::vector<ports::step_record> records) {
    if (std::exchange(is_complete_, true)) return;
    std::vector<ports::step_record> late;
    if (has_records_) {
        late = std::move(records);
    } else {
        reads_ = digest_of_reads_in(records);
        // An evaluation goes on after records that end early; it could not do without some between.
        std::size_t bytes = 0;
        const auto first_late = std::find_if(records.begin(), records.end(), [&](const auto& each) {
            return (bytes += each.body.size()) > max_kept_bytes;
        });
        late.assign(std::make_move_iterator(first_late), std::make_move_iterator(records.end()));
        records.erase(first_late, records.end());
        records_ = std::make_shared<std::vector<ports::step_record>>(std::move(records));
        has_records_ = true;
    }
    if (!late.empty()) late_ = std::make_shared<std::vector<ports::step_record>>(std::move(late));
}

std::vector<ports::step_record> top_level_notes::all() const {
    std::vector<ports::step_record> both = *records_;
    if (late_) both.insert(both.end(), late_->begin(), late_->end());
    return both;
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
