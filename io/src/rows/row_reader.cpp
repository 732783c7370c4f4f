#include "rows/row_pass.hpp"

#include <heddle/base/keyed_hash.hpp>

#include <algorithm>
#include <cstring>
#include <queue>
#include <utility>

namespace heddle::rows {

namespace {

/// Which place a row has in a sample: the same for a row and a seed in all processes.
std::uint64_t lot_of(const row_origin& from, std::uint64_t seed) {
    char bytes[16];
    std::memcpy(bytes, &from.id_digest.high, 8);
    std::memcpy(bytes + 8, &from.id_digest.low, 8);
    const hash_key key{seed ^ 0x9E3779B97F4A7C15ULL, 0xD1B54A32D192ED03ULL};
    return hash_text(key, {bytes, sizeof bytes});
}

struct lot {
    std::uint64_t hash = 0;
    std::uint64_t number = 0;
    [[nodiscard]] friend auto operator<=>(const lot&, const lot&) = default;
};

} // namespace

struct row_reader::state {
    explicit state(row_input wanted) : input(std::move(wanted)), pass(input, stop, &bytes) {}

    row_input input;
    interruption stop;
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::uint64_t> rows{0};
    std::atomic<std::uint64_t> unused{0}; ///< of the bytes: they belong to further rows
    std::optional<std::uint64_t> total_bytes;
    row_pass pass;
    std::uint64_t taken = 0;
    bool drawn = false;
    std::optional<lot> last; ///< of those in the sample; none: no row is
    std::optional<error> failure;

    result<std::optional<row_item>> next();
    result<void> draw(std::uint64_t count);
    result<bool> takes(const row_origin& from);
};

/// Finds the rows with the `count` least hashes.
result<void> row_reader::state::draw(std::uint64_t count) {
    row_pass first(input, stop, nullptr);
    std::priority_queue<lot> least;
    for (;;) {
        HEDDLE_TRY(const std::optional<row_item> item, first.next());
        if (!item) break;
        const row_origin& from = origin_of(*item);
        const lot own{lot_of(from, input.sample->seed), from.number};
        if (least.size() < count) {
            least.push(own);
        } else if (own < least.top()) {
            least.pop();
            least.push(own);
        }
    }
    if (!least.empty()) last = least.top();
    return {};
}

result<bool> row_reader::state::takes(const row_origin& from) {
    if (!input.sample) return true;
    const std::uint64_t hash = lot_of(from, input.sample->seed);
    if (const auto* fraction = std::get_if<double>(&input.sample->size))
        return static_cast<double>(hash >> 11) * 0x1p-53 < *fraction;
    return last && lot{hash, from.number} <= *last;
}

result<std::optional<row_item>> row_reader::state::next() {
    if (!drawn && input.sample) {
        if (const auto* count = std::get_if<std::uint64_t>(&input.sample->size))
            HEDDLE_CHECK(draw(*count));
        drawn = true;
    }
    while (!input.limit || taken < *input.limit) {
        if (stop.requested()) return error::cancelled(cancel_reason::user);
        HEDDLE_TRY(std::optional<row_item> item, pass.next());
        unused.store(pass.unused(), std::memory_order_relaxed);
        if (!item) return item;
        rows.fetch_add(1, std::memory_order_relaxed);
        HEDDLE_TRY(const bool wanted, takes(origin_of(*item)));
        if (!wanted) continue;
        ++taken;
        return item;
    }
    return std::optional<row_item>();
}

row_reader::row_reader(std::unique_ptr<state> own) : state_(std::move(own)) {}
row_reader::~row_reader() = default;

result<std::unique_ptr<row_reader>> row_reader::open(row_input input) {
    if (input.files.empty())
        return error(errc::invalid_argument, "no file of rows").with_hint("'-' is standard input");
    std::uint64_t total = 0;
    const std::string* single_pass = nullptr;
    bool standard_input = false;
    for (const std::string& file : input.files) {
        HEDDLE_TRY(const input_kind kind, examine_input(file, input.standard_input));
        HEDDLE_TRY([[maybe_unused]] const row_format format,
                   resolved_format(file, input.format, kind.regular));
        if (file == "-" && std::exchange(standard_input, true))
            return error(errc::invalid_argument, "standard input is named twice");
        total += kind.bytes;
        if (file == "-" || !kind.regular) single_pass = &file;
    }
    const bool counts = input.sample && std::holds_alternative<std::uint64_t>(input.sample->size);
    if (counts && single_pass)
        return error(errc::invalid_argument,
                     "a sample of a number of rows reads the rows twice, "
                     "and " +
                         shown_file(*single_pass) + " can be read only once")
            .with_hint("use a fraction such as 5%, or write the rows to a file");
    auto own = std::make_unique<state>(std::move(input));
    if (!single_pass) own->total_bytes = total;
    return std::unique_ptr<row_reader>(new row_reader(std::move(own)));
}

result<std::optional<row_item>> row_reader::next() {
    if (state_->failure) return *state_->failure;
    auto item = state_->next();
    if (!item) state_->failure = item.error();
    return item;
}

void row_reader::check_columns(
    std::function<result<void>(const std::vector<std::string>& columns)> check) {
    state_->input.check_columns = std::move(check);
}

void row_reader::interrupt() noexcept { state_->stop.request(); }

row_progress row_reader::progress() const noexcept {
    // A block that was just read may not be counted among the unused yet.
    const std::uint64_t unused = state_->unused.load(std::memory_order_relaxed);
    const std::uint64_t bytes = state_->bytes.load(std::memory_order_relaxed);
    return {state_->rows.load(std::memory_order_relaxed), bytes - std::min(bytes, unused),
            state_->total_bytes};
}

} // namespace heddle::rows
