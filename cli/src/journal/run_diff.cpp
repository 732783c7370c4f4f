#include "journal/run_diff.hpp"

#include "batch/progress/batch_counts.hpp"
#include "batch/run_folder/run_store_access.hpp"
#include "batch/steering/opened_run.hpp"
#include "journal/step_diff.hpp"
#include "json_or_text.hpp"
#include "report_error.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/fs/local_tree.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/json_line.hpp>

#include <boost/json/object.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace heddle::cli {

namespace {

namespace json = boost::json;
using ports::row_status;

constexpr std::size_t shown_bytes = 200; // of a value, in a line for people

std::string_view name_of(row_status status) {
    switch (status) {
    case row_status::done: return "done";
    case row_status::failed: return "failed";
    case row_status::rejected: return "rejected";
    case row_status::begun: break;
    }
    return "not ended";
}

bool has_ended(row_status status) { return status != row_status::begun; }
bool has_failed(row_status status) {
    return status == row_status::failed || status == row_status::rejected;
}

std::string message_of(const std::string& error_json) {
    const json::value parsed = json_or_text(error_json);
    const json::value* message =
        parsed.is_object() ? parsed.get_object().if_contains("message") : nullptr;
    return message && message->is_string() ? std::string(message->get_string()) : error_json;
}

/// What a row gave, in one line.
std::string text_of(const store::run_row& row) {
    std::string text(name_of(row.known.status));
    if (!row.ended) return text;
    const bool done = row.known.status == row_status::done;
    if (done) text.clear();
    const std::string& what = done ? row.ended->value_json : message_of(row.ended->error_json);
    if (!done && !what.empty()) text += ": ";
    return text + utf8::printable_line(utf8::shortened(what, shown_bytes));
}

json::object json_of(const store::run_row& row) {
    json::object side{{"status", name_of(row.known.status)}};
    if (!row.ended) return side;
    if (row.known.status == row_status::done) side["value"] = json_or_text(row.ended->value_json);
    else side["error"] = json_or_text(row.ended->error_json);
    return side;
}

json::value cost_json(const ports::step_spending& spent) {
    if (spent.unpriced != 0) return nullptr;
    return setup::rounded_usd(spent.cost_usd);
}

/// Both runs, on one loop.
class comparison {
public:
    comparison(const diff_request& asked, opened_run& a, console& output)
        : asked_(asked), a_(a), output_(output), workers_(fs::make_worker_pool(*a.loop, 1)) {}

    coro::task<result<void>> run() {
        auto folder = find_run(asked_.b);
        if (!folder) co_return std::move(folder).error();
        b_.loop = a_.loop;
        b_.folder = *folder;
        auto store = read_journal(*workers_, b_.folder);
        if (!store) co_return std::move(store).error();
        b_.store = *std::move(store);
        auto about = read_manifest(b_.folder);
        if (!about) co_return std::move(about).error();
        b_.about = *std::move(about);
        result<void> compared = co_await compare_rows();
        if (compared) report();
        b_.store.reset();
        co_return compared;
    }

    [[nodiscard]] bool is_same() const noexcept {
        return different_ + only_a_ + only_b_ + other_steps_ == 0;
    }

private:
    coro::task<result<void>> compare_rows() {
        result<std::vector<ports::known_row>> in_a = co_await a_.store->known_rows(a_.context());
        if (!in_a) co_return std::move(in_a).error();
        result<std::vector<ports::known_row>> in_b = co_await b_.store->known_rows(b_.context());
        if (!in_b) co_return std::move(in_b).error();
        if (a_.about.is_single() && b_.about.is_single()) {
            // The name of the workflow is not a name of a row.
            for (auto* rows : {&*in_a, &*in_b}) {
                for (ports::known_row& row : *rows) row.id = {};
            }
        }
        std::vector<std::pair<ports::digest128, std::size_t>> by_id;
        by_id.reserve(in_b->size());
        for (std::size_t i = 0; i < in_b->size(); ++i) by_id.emplace_back((*in_b)[i].id, i);
        std::sort(by_id.begin(), by_id.end());
        std::vector<bool> seen(in_b->size());
        // Of rows of the same id all but the first were rejected: they are matched in their order.
        std::vector<std::size_t> taken(by_id.size());
        for (const ports::known_row& row : *in_a) {
            const auto first = static_cast<std::size_t>(
                std::lower_bound(by_id.begin(), by_id.end(), std::pair(row.id, std::size_t{0})) -
                by_id.begin());
            const ports::known_row* other = nullptr;
            if (first < by_id.size() && by_id[first].first == row.id) {
                const std::size_t next = first + taken[first]++;
                if (next < by_id.size() && by_id[next].first == row.id) {
                    other = &(*in_b)[by_id[next].second];
                    seen[by_id[next].second] = true;
                }
            }
            result<void> done = co_await compare(&row, other);
            if (!done) co_return done;
        }
        for (std::size_t i = 0; i < in_b->size(); ++i) {
            if (seen[i]) continue;
            result<void> done = co_await compare(nullptr, &(*in_b)[i]);
            if (!done) co_return done;
        }
        co_return result<void>();
    }

    static coro::task<result<std::optional<store::run_row>>> whole(opened_run* run,
                                                                   const ports::known_row* row) {
        if (!row) co_return std::optional<store::run_row>();
        result<std::optional<store::run_row>> found =
            co_await run->store->row(row->row, run->context());
        co_return found;
    }

    /// A row that is in one of them at least. One that has not ended counts as one that is not
    /// there.
    coro::task<result<void>> compare(const ports::known_row* in_a, const ports::known_row* in_b) {
        if (in_a && !has_ended(in_a->status)) in_a = nullptr;
        if (in_b && !has_ended(in_b->status)) in_b = nullptr;
        if (!in_a && !in_b) co_return result<void>();
        // Messages differ from run to run.
        const bool both_failed =
            in_a && in_b && has_failed(in_a->status) && in_a->status == in_b->status;
        if (both_failed) ++failed_in_both_;
        if (both_failed && !asked_.steps) {
            ++same_;
            co_return result<void>();
        }
        result<std::optional<store::run_row>> a = co_await whole(&a_, in_a);
        if (!a) co_return std::move(a).error();
        result<std::optional<store::run_row>> b = co_await whole(&b_, in_b);
        if (!b) co_return std::move(b).error();
        const bool is_same =
            both_failed || (in_a && in_b && in_a->status == in_b->status && (*a)->ended &&
                            (*b)->ended && (*a)->ended->value_json == (*b)->ended->value_json);
        if (is_same) ++same_;
        else if (!in_b) ++only_a_;
        else if (!in_a) ++only_b_;
        else ++different_;
        if (is_same && !asked_.steps) co_return result<void>();
        if (in_a && in_b && has_failed(in_a->status) != has_failed(in_b->status))
            ++(has_failed(in_a->status) ? failed_in_a_ : failed_in_b_);
        std::vector<step_difference> steps;
        if (in_a && in_b && (is_same || shown_ < asked_.most)) {
            result<std::vector<step_difference>> found = co_await different_steps(in_a, in_b);
            if (!found) co_return std::move(found).error();
            steps = *std::move(found);
        }
        if (is_same && steps.empty()) co_return result<void>();
        if (is_same) ++other_steps_;
        if (++shown_ <= asked_.most) show(*a, *b, steps);
        co_return result<void>();
    }

    coro::task<result<std::vector<step_difference>>> different_steps(const ports::known_row* in_a,
                                                                     const ports::known_row* in_b) {
        result<std::vector<ports::step_record>> of_a =
            co_await a_.store->records_of(in_a->row, a_.context());
        if (!of_a) co_return std::move(of_a).error();
        result<std::vector<ports::step_record>> of_b =
            co_await b_.store->records_of(in_b->row, b_.context());
        if (!of_b) co_return std::move(of_b).error();
        co_return compare_steps(*std::move(of_a), *std::move(of_b));
    }

    void show(const std::optional<store::run_row>& a, const std::optional<store::run_row>& b,
              const std::vector<step_difference>& steps) {
        const std::string& id = a ? a->id : b->id;
        if (asked_.json) {
            json::object line{{"id", id}, {"a", nullptr}, {"b", nullptr}};
            if (a) line["a"] = json_of(*a);
            if (b) line["b"] = json_of(*b);
            if (a && b) line["steps"] = json_of(steps);
            output_.out_data(setup::json_line(line));
            return;
        }
        const unsigned columns = output_.traits().out_is_terminal ? output_.columns() : 0;
        std::string text = utf8::printable_line(id) + "\n";
        const std::pair<const char*, const std::optional<store::run_row>*> sides[] = {{"  < ", &a},
                                                                                      {"  > ", &b}};
        for (const auto& [sign, row] : sides) {
            const std::string line = sign + (*row ? text_of(**row) : std::string("(no result)"));
            text += (columns == 0 ? line : setup::cut_to_width(line, columns)) + "\n";
        }
        output_.out(text + text_of(steps));
    }

    void report() {
        const ports::step_spending spent_a = a_.store->totals().spent;
        const ports::step_spending spent_b = b_.store->totals().spent;
        if (asked_.json) {
            json::object line{{"same", same_},
                              {"different", different_},
                              {"only_a", only_a_},
                              {"only_b", only_b_},
                              {"failed_only_in_a", failed_in_a_},
                              {"failed_only_in_b", failed_in_b_},
                              {"failed_in_both", failed_in_both_},
                              {"cost_usd_a", cost_json(spent_a)},
                              {"cost_usd_b", cost_json(spent_b)}};
            if (asked_.steps) line["same_with_other_steps"] = other_steps_;
            output_.out_data(setup::json_line(line));
            return;
        }
        if (shown_ > asked_.most)
            output_.out("… and " + setup::counted(shown_ - asked_.most, "further row") + "\n");
        const std::string others =
            asked_.steps ? " (" + setup::grouped(other_steps_) + " with other steps)" : "";
        std::string text = setup::grouped(same_) + " same" + others + ", " +
                           setup::grouped(different_) + " different, " + setup::grouped(only_a_) +
                           " only in " + a_.folder + ", " + setup::grouped(only_b_) + " only in " +
                           b_.folder + "\n";
        if (failed_in_a_ + failed_in_b_ + failed_in_both_ != 0) {
            text += "failed: " + setup::grouped(failed_in_a_) + " only in the first, " +
                    setup::grouped(failed_in_b_) + " only in the second, " +
                    setup::grouped(failed_in_both_) + " in both\n";
        }
        const auto cost = [](const ports::step_spending& spent) -> std::string {
            const std::string amount = setup::dollars(spent.cost_usd);
            if (spent.unpriced != 0)
                return amount.empty() ? "an unknown sum" : amount + " and more";
            return amount.empty() ? std::string("nothing") : amount;
        };
        if (spent_a.requests + spent_b.requests != 0)
            text += "spent: " + cost(spent_a) + " and " + cost(spent_b) + "\n";
        output_.out(text);
    }

    const diff_request& asked_;
    opened_run& a_;
    opened_run b_;
    console& output_;
    std::unique_ptr<ports::worker_port> workers_;
    std::uint64_t same_ = 0;
    std::uint64_t other_steps_ = 0; ///< of those: with steps that differ
    std::uint64_t different_ = 0;
    std::uint64_t only_a_ = 0;
    std::uint64_t only_b_ = 0;
    std::uint64_t failed_in_a_ = 0;
    std::uint64_t failed_in_b_ = 0;
    std::uint64_t failed_in_both_ = 0;
    std::uint64_t shown_ = 0;
};

coro::task<result<void>> compare_runs(const diff_request* asked, opened_run* a, console* output,
                                      bool* is_same) {
    comparison both(*asked, *a, *output);
    result<void> compared = co_await both.run();
    *is_same = both.is_same();
    co_return compared;
}

} // namespace

exit_code diff_runs(const diff_request& asked, console& output) {
    bool is_same = false;
    const auto compared = with_run(
        asked.a, [&](opened_run& a) { return compare_runs(&asked, &a, &output, &is_same); });
    if (!compared) return report_error(compared.error(), exit_code::usage, asked.json, output);
    return is_same ? exit_code::done : exit_code::failed;
}

} // namespace heddle::cli
