#include "batch/run_folder/top_level_store.hpp"

#include "sources/packed_bytes.hpp"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

namespace heddle::cli {

namespace {

constexpr std::uint64_t layout = 1;
constexpr std::string_view entry_prefix = "the top level, ";

std::string entry_name(std::size_t number) {
    return std::string(entry_prefix) + std::to_string(number);
}

void add(packed_bytes& all, const ports::digest128& digest) {
    all.add(digest.high);
    all.add(digest.low);
}

ports::digest128 digest_in(unpacked_bytes& all) {
    const std::uint64_t high = all.number();
    return {high, all.number()};
}

// What was spent is left out: the top level calls no model.
void add(packed_bytes& all, const ports::step_record& record) {
    all.add(static_cast<std::uint64_t>(record.kind));
    add(all, record.path);
    add(all, record.content);
    all.add(std::bit_cast<std::uint64_t>(record.at));
    all.add(std::string_view(record.name));
    all.add(std::string_view(record.body));
}

ports::step_record record_in(unpacked_bytes& all) {
    ports::step_record record;
    record.kind = static_cast<ports::step_kind>(all.number());
    record.path = digest_in(all);
    record.content = digest_in(all);
    record.at = std::bit_cast<double>(all.number());
    record.name = all.text();
    record.body = all.text();
    return record;
}

} // namespace

std::string kept_top_level::to_bytes() const {
    packed_bytes all;
    all.add(layout);
    all.add(std::string_view(base));
    all.add(std::string_view(whole));
    all.add(std::uint64_t{imports.size()});
    for (const std::string& each : imports) all.add(std::string_view(each));
    all.add(std::uint64_t{sources.size()});
    for (const program_source& each : sources) {
        all.add(static_cast<std::uint64_t>(each.what));
        all.add(std::string_view(each.asked));
        all.add(std::string_view(each.digest));
    }
    all.add(std::uint64_t{records.size()});
    for (const ports::step_record& each : records) add(all, each);
    return all.take();
}

std::optional<kept_top_level> kept_top_level::from_bytes(std::string_view bytes) {
    unpacked_bytes all(bytes);
    if (all.number() != layout) return std::nullopt;
    kept_top_level kept;
    kept.base = all.text();
    kept.whole = all.text();
    for (std::size_t left = all.count(); left > 0; --left) kept.imports.push_back(all.text());
    for (std::size_t left = all.count(); left > 0; --left) {
        program_source source;
        source.what = static_cast<program_source::kind>(all.number());
        source.asked = all.text();
        source.digest = all.text();
        kept.sources.push_back(std::move(source));
    }
    for (std::size_t left = all.count(); left > 0; --left) kept.records.push_back(record_in(all));
    if (!all.is_whole()) return std::nullopt;
    return kept;
}

top_level_store::top_level_store(const std::vector<store::manifest_entry>& entries) {
    for (const store::manifest_entry& each : entries) {
        if (!each.name.starts_with(entry_prefix) || each.digest.empty()) continue;
        if (auto kept = kept_top_level::from_bytes(each.text)) all_.push_back(*std::move(kept));
    }
}

coro::task<result<top_level_store::found_notes>> top_level_store::find(
    asked_program program, coro::call_context context) const {
    const top_level_notes none(0);
    found_notes found;
    for (const kept_top_level& each : all_) {
        const auto imports = read_imports(program.asked.file, each.imports);
        if (!imports) continue;
        run_manifest manifest = program.manifest; // which a digest notes the model in
        const program_parts parts{program.asked, program.text, program.tools, *imports, none};
        if (digests_of(parts, manifest).base != each.base) continue;
        result<std::optional<program_source>> changed =
            co_await program.tools.sources().first_changed(each.sources, context);
        if (!changed) co_return std::move(changed).error();
        if (*changed) {
            if (each.whole == program.manifest.program_digest) found.change = change_of(**changed);
            continue;
        }
        found.notes = top_level_notes(program.manifest.seed, each.records, each.sources);
        break;
    }
    co_return found;
}

std::vector<store::manifest_entry> top_level_store::entries_with(const kept_top_level& now,
                                                                 bool is_new,
                                                                 const run_manifest& run) const {
    std::vector<store::manifest_entry> entries;
    const auto other = std::find_if(all_.begin(), all_.end(), [&](const auto& each) {
        return each.whole != now.whole && each.whole == run.program_digest;
    });
    const bool drops = all_.size() > 1 && other == all_.end();
    if (!is_new && !drops) return entries;
    entries.push_back({entry_name(1), now.whole, now.to_bytes()});
    if (other != all_.end()) entries.push_back({entry_name(2), other->whole, other->to_bytes()});
    else if (all_.size() > 1) entries.push_back({entry_name(2), {}, {}});
    return entries;
}

kept_top_level kept_of(const program_digests& digests, const imported_texts& imports,
                       const top_level_notes& notes) {
    kept_top_level kept;
    kept.base = digests.base;
    kept.whole = digests.whole;
    for (const auto& [name, text] : imports) kept.imports.push_back(name);
    kept.sources = notes.sources();
    kept.records = notes.records();
    return kept;
}

void adopt_digests(run_manifest& run, const program_digests& now) {
    for (std::string* each : {&run.program_digest, &run.begun_digest}) {
        if (*each == now.earlier) *each = now.whole;
    }
}

} // namespace heddle::cli
