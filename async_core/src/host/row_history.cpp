#include <heddle/host/row_history.hpp>

#include "begun_functions.hpp"
#include "ends_of_time.hpp"
#include "open_requests.hpp"
#include "record_kinds.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/value_codec.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace heddle::host {

namespace {

using ports::digest128;
using ports::step_kind;
using ports::step_record;

/// The records that an attempt is given, as they grow.
class replayed_records {
public:
    explicit replayed_records(const failure_reader& failure_of) : failure_of_(failure_of) {}

    void add(step_record record, bool lacks_response) {
        has_new_response_ = has_new_response_ || is_response(record);
        if (ends_a_step(record)) {
            under_way_.erase(record.path);
            if (lacks_response || record.body == cut_by_deadline) lacking_.insert(record.path);
            else lacking_.erase(record.path);
        }
        all_.push_back(std::move(record));
    }
    void lose(const digest128& path) { under_way_.insert(path); }
    /// A record that shows, as the first one, that the step has begun.
    void begin(const digest128& path) { begun_.try_emplace(path, all_.size()); }
    /// A request was sent.
    void send(const step_record& request) {
        begin(request.path);
        sent_.insert_or_assign({request.path, request.part}, all_.size());
    }
    void end_attempt(const step_record& failed);
    [[nodiscard]] std::vector<step_record> take() { return std::move(all_); }
    [[nodiscard]] std::vector<std::uint64_t> take_discarded() { return std::move(discarded_); }

private:
    struct step_end {
        std::size_t at;
        std::optional<std::string> failure;
    };
    [[nodiscard]] std::vector<step_end> ends() const;
    /// Whether a request of the step has counted what it cost.
    [[nodiscard]] bool has_paid_request(const digest128& path) const;
    [[nodiscard]] bool is_stopped_again(const step_record& failed);
    void forget_open_failures();
    /// Of which steps the results of tools are kept that are not replayed, besides their responses.
    enum class kept_tools : std::uint8_t { of_repeated, all };
    /// `steps`: where they ended, ascending. `from`: what came after that is not replayed in any
    /// case.
    void repeat(const std::vector<std::size_t>& steps, std::size_t from = SIZE_MAX,
                kept_tools tools = kept_tools::of_repeated);
    [[nodiscard]] bool was_cancelled(const step_record& ended) const;
    [[nodiscard]] std::size_t beginning_of(const digest128& step) const;
    [[nodiscard]] bool is_used(std::size_t failure, const begun_functions& functions) const;
    [[nodiscard]] bool was_sent_since(std::size_t failure) const;
    [[nodiscard]] std::vector<std::size_t> asked_again(const std::set<digest128>& steps,
                                                       const begun_functions& functions) const;
    void start_over();

    /// By a limit: its message, and the records at that moment.
    struct stop {
        std::string message;
        std::size_t at;
    };

    const failure_reader& failure_of_;
    std::vector<step_record> all_;
    std::vector<std::uint64_t> discarded_;
    std::set<digest128> lacking_;   ///< steps that ended by a request without a response
    std::set<digest128> under_way_; ///< steps whose request was lost, and that have not ended since
    std::size_t replayed_ = 0;      ///< records before the first step that is repeated
    std::optional<stop> stopped_;   ///< the last one
    /// With which error the program itself, or the time of a form, ended the last one.
    std::optional<std::string> refused_;
    /// How the program has refused what was paid for, so often one after the other.
    struct refusal {
        std::string message;
        digest128 step; ///< that was paid for last
        std::size_t count = 0;
    };
    refusal refusal_;
    bool has_new_response_ = false; ///< since the last attempt
    bool looks_before_ = false; ///< the last one ended by a time; what failed before is repeated
    std::map<digest128, std::size_t> begun_; ///< steps since then, and the records before them
    /// Of a part of a step, zero: of the step itself: the records before its last request.
    std::map<std::pair<digest128, digest128>, std::size_t> sent_;
};

std::vector<replayed_records::step_end> replayed_records::ends() const {
    std::vector<step_end> found;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (ends_a_step(all_[i])) found.push_back({i, failure_of_(all_[i])});
    }
    return found;
}

bool replayed_records::has_paid_request(const digest128& path) const {
    return std::any_of(all_.begin(), all_.end(), [&](const step_record& each) {
        return is_response(each) && each.path == path && each.spent.requests != 0;
    });
}

/// Steps that were in progress ask again, in another attempt, for what failed, unless functions of
/// the program have run since: their arguments may follow from it.
void replayed_records::forget_open_failures() {
    std::set<digest128> ended;
    for (const step_record& each : all_) {
        if (ends_a_step(each)) ended.insert(each.path);
    }
    const begun_functions functions(all_);
    for (std::size_t i = 0; i < all_.size(); ++i) {
        step_record& each = all_[i];
        if (each.kind != step_kind::unanswered || ended.count(each.path) != 0) continue;
        // See asked_again(). A function that was cut is cut again by its record.
        if (functions.ran_since(each.path, i) || functions.cut_before(i)) continue;
        each.content = {}; // nothing is asked with that
        each.body.clear();
    }
}

void replayed_records::end_attempt(const step_record& failed) {
    forget_open_failures();
    const bool has_new_response = std::exchange(has_new_response_, false);
    const std::optional<std::string> refused = std::exchange(refused_, std::nullopt);
    const bool interrupted =
        !std::exchange(under_way_, {}).empty() || failed.name == without_failed_step;
    if (interrupted) return; // what failed has left no record
    const refusal before = std::exchange(refusal_, {});
    const std::vector<step_end> steps = ends();
    const auto failures_from = [&steps](auto first) {
        std::vector<std::size_t> found;
        for (; first != steps.end(); ++first) {
            if (first->failure) found.push_back(first->at);
        }
        return found;
    };
    const auto ends_alike = [&](const step_end& each) {
        return each.failure && *each.failure == failed.body;
    };
    const bool again = !has_new_response && refused == failed.body;
    const std::vector<std::size_t> all_failed = failures_from(steps.begin());
    if (failed.name == ended_by_time) {
        refused_ = failed.body;
        const auto after = [&failed](const step_record& each) { return each.at > failed.at; };
        const auto first = std::find_if(all_.begin(), all_.end(), after);
        const auto from = static_cast<std::size_t>(first - all_.begin());
        // If that comes to the same end, what failed before the form may be the reason.
        const bool has_failed = !all_failed.empty() && all_failed.front() < from &&
                                !has_acted(all_, all_failed.front(), from);
        looks_before_ = again && !looks_before_ && has_failed;
        if (looks_before_) return repeat(all_failed);
        return repeat({}, from, kept_tools::all);
    }
    const auto last_failed = std::find_if(steps.rbegin(), steps.rend(), ends_alike);
    if (last_failed != steps.rend()) {
        // Steps of other branches may have failed beside it, for the same reason: the first of them
        // has ended the attempt. After one that failed earlier the row has gone on to other steps.
        std::size_t last_begun = replayed_ <= last_failed->at ? replayed_ : 0;
        for (const auto& [path, at] : begun_) {
            if (at <= last_failed->at) last_begun = std::max(last_begun, at);
        }
        const auto first = std::find_if(steps.begin(), steps.end(), [&](const step_end& each) {
            return each.at >= last_begun && ends_alike(each);
        });
        return repeat(failures_from(first));
    }
    if (failed.name == ended_by_a_limit && !is_stopped_again(failed)) return;
    refused_ = failed.body;
    const bool only_by_time =
        std::all_of(all_failed.begin(), all_failed.end(),
                    [this](std::size_t each) { return all_[each].body == cut_by_deadline; });
    if (!all_failed.empty() && !(only_by_time && again)) return repeat(all_failed);
    // The program itself has refused what it got, or a limit around it has ended the attempt.
    std::vector<std::size_t> paid;        // where steps ended that were paid for
    std::optional<std::size_t> cancelled; // the last one of those that were cancelled
    for (const step_end& each : steps) {
        const step_record& end = all_[each.at];
        const bool is_paid =
            end.spent.requests != 0 || end.body.empty() || has_paid_request(end.path);
        if (!is_paid || end.body == cut_by_deadline) continue;
        if (was_cancelled(end)) cancelled = each.at;
        else paid.push_back(each.at);
    }
    // A time ended after that, and the program has made another error of it.
    const std::optional<std::size_t> end_of_time = last_end_of_time(all_);
    if (end_of_time && (paid.empty() || *end_of_time > paid.back())) {
        if (again && !has_acted(all_, 0, all_.size())) return start_over();
        // What has cancelled the step is not to cancel it again.
        if (cancelled) return repeat({*cancelled}, beginning_of(all_[*cancelled].path));
        if (!all_failed.empty()) return repeat(all_failed);
        return repeat({}, first_end_of_time(all_, *end_of_time));
    }
    if (!paid.empty()) {
        // That another response of the same step has led to the same end means that one before it
        // may be the reason.
        const digest128& last = all_[paid.back()].path;
        const bool is_same = before.message == failed.body && before.step == last;
        refusal_ = {failed.body, last, is_same ? before.count + 1 : 1};
        const auto count = static_cast<std::ptrdiff_t>(std::min(refusal_.count, paid.size()));
        return repeat(std::vector<std::size_t>(paid.end() - count, paid.end()));
    }
    if (cancelled) return repeat({*cancelled}, beginning_of(all_[*cancelled].path));
    start_over();
}

/// The attempt has ended where the one before had ended, by the same limit. Then it is not a limit
/// of the run that a higher one could lift, but one of the language that the last response passes:
/// another response may keep to it.
bool replayed_records::is_stopped_again(const step_record& failed) {
    const stop now{failed.body, all_.size()};
    const bool again = stopped_ && stopped_->message == now.message && stopped_->at == now.at;
    stopped_ = now;
    return again;
}

/// The first record of the step, or of what is part of it.
std::size_t replayed_records::beginning_of(const digest128& step) const {
    const auto found = std::find_if(all_.begin(), all_.end(), [&step](const step_record& each) {
        return each.path == step || (each.kind == step_kind::nested && each.content == step);
    });
    const auto first = static_cast<std::size_t>(found - all_.begin());
    const auto sent = begun_.find(step);
    return sent == begun_.end() ? first : std::min(first, sent->second);
}

/// Only responses are kept.
void replayed_records::start_over() {
    replayed_ = 0;
    begun_.clear();
    sent_.clear();
    all_.erase(std::remove_if(all_.begin(), all_.end(),
                              [](const step_record& each) {
                                  return !is_response(each) &&
                                         !ports::is_of_earlier_program(each.kind);
                              }),
               all_.end());
    for (step_record& each : all_) each.at = 0;
}

/// The step went on from the failure: a function of the program has run after it, or a request of
/// the same part or of the step itself was answered.
bool replayed_records::is_used(std::size_t failure, const begun_functions& functions) const {
    const step_record& record = all_[failure];
    if (record.kind == step_kind::refused || is_of_budget(record)) return false;
    if (functions.ran_since(record.path, failure)) return true;
    return std::any_of(all_.begin() + static_cast<std::ptrdiff_t>(failure) + 1, all_.end(),
                       [&record](const step_record& each) {
                           return each.path == record.path &&
                                  (is_response(each) || each.kind == step_kind::tool) &&
                                  (each.part.is_zero() || each.part == record.part);
                       });
}

/// The part, or the step itself, has sent a request after the failure: it was not what ended it.
bool replayed_records::was_sent_since(std::size_t failure) const {
    const step_record& record = all_[failure];
    const auto after = [&](const digest128& part) {
        const auto sent = sent_.find({record.path, part});
        return sent != sent_.end() && sent->second > failure;
    };
    return after(record.part) || after({});
}

/// Which failures of the steps are asked for again: those that the step has not gone on from, and
/// what a budget refused, which may be larger now, also in steps that have not ended.
std::vector<std::size_t> replayed_records::asked_again(const std::set<digest128>& steps,
                                                       const begun_functions& functions) const {
    std::set<digest128> ended;
    for (const step_record& each : all_) {
        if (ends_a_step(each)) ended.insert(each.path);
    }
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        const step_record& each = all_[i];
        const bool is_of_open = is_of_budget(each) && ended.count(each.path) == 0;
        if (!is_failure(each) || is_forgotten(each)) continue;
        if (steps.count(each.path) == 0 && !is_of_open) continue;
        if (!is_used(i, functions)) found.push_back(i);
    }
    return found;
}

/// Without an error that is its own.
bool replayed_records::was_cancelled(const step_record& ended) const {
    return lang::is_encoded_error(ended.body) && !failure_of_(ended);
}

void replayed_records::repeat(const std::vector<std::size_t>& steps, std::size_t from,
                              kept_tools tools) {
    std::size_t cut = steps.empty() ? from : std::min(from, steps.front());
    std::set<digest128> sent_anew; // whose responses are what failed
    const begun_functions functions(all_);
    std::set<digest128> refused;                // steps that failed for want of a response
    std::set<digest128> refused_last;           // steps that have done nothing after a budget has
    std::map<digest128, std::size_t> responded; // steps, by their last response
    for (std::size_t i = 0; i < all_.size(); ++i) {
        const step_record& each = all_[i];
        if (is_response(each)) responded.insert_or_assign(each.path, i);
        if (each.kind == step_kind::refused) refused.insert(each.path);
        if (is_forgotten(each)) continue;
        const bool is_error = each.kind == step_kind::unanswered && !is_of_budget(each);
        if (is_error && !is_used(i, functions) && !was_sent_since(i)) refused.insert(each.path);
        if (is_of_budget(each)) refused_last.insert(each.path);
        else if (is_response(each) || each.kind == step_kind::tool) refused_last.erase(each.path);
        else if (each.kind == step_kind::nested) refused_last.erase(each.content);
    }
    std::set<digest128> repeated;
    for (const std::size_t each : steps) {
        const digest128& path = all_[each].path;
        repeated.insert(path);
        const bool was_lacking = lacking_.erase(path) != 0;
        const bool lacks = was_lacking || refused.count(path) != 0 ||
                           refused_last.count(path) != 0 || was_cancelled(all_[each]);
        // The records of that end are of several branches: none of them is replayed.
        if (all_[each].body == cut_by_deadline) {
            const std::size_t beginning = beginning_of(path);
            cut = std::min(cut, first_end_of_time(all_, each));
            if (!has_acted(all_, beginning, cut)) cut = std::min(cut, beginning);
        }
        if (lacks) continue;
        // A step that failed in a function that ran inside has failed it, and not its own
        // responses.
        const std::vector<std::size_t> ran = functions.of(path);
        const std::size_t begun = ran.empty() ? all_.size() : ran.front();
        const auto own = failure_of_(all_[each]);
        const bool is_of_inner = std::any_of(steps.begin(), steps.end(), [&](std::size_t other) {
            if (other <= begun || other >= each) return false;
            const auto inner = failure_of_(all_[other]);
            return own && inner && !inner->empty() && own->find(*inner) != std::string::npos;
        });
        if (is_of_inner) continue;
        sent_anew.insert(path);
        cut = std::min(cut, begun);
    }
    std::set<std::size_t> anew; // failures
    for (const std::size_t each : asked_again(repeated, functions)) {
        anew.insert(each);
        // What came after that may come otherwise: steps that it has cancelled, for one.
        cut = std::min(cut, functions.cut_before(each).value_or(each));
    }
    double clock = 0;            // the time of what is repeated has not passed
    std::set<digest128> dropped; // steps whose end is not replayed, and has counted their cost
    for (std::size_t i = 0; i < all_.size(); ++i) {
        const step_record& each = all_[i];
        const bool is_repeated = !ends_a_step(each) && repeated.count(each.path) != 0;
        if (i < cut && !is_repeated) clock = std::max(clock, each.at);
        if (i >= cut && ends_a_step(each)) dropped.insert(each.path);
    }
    std::vector<step_record> kept;
    replayed_ = 0;
    begun_.clear();
    sent_.clear();
    for (std::size_t i = 0; i < all_.size(); ++i) {
        step_record& each = all_[i];
        const bool is_answer = is_response(each);
        const bool is_part = is_answer || each.kind == step_kind::tool;
        if (is_part && sent_anew.count(each.path) != 0) {
            if (is_answer) discarded_.push_back(each.number);
            continue;
        }
        if (each.kind == step_kind::tool && each.name.starts_with(context_of) &&
            repeated.count(each.path) != 0) {
            const auto response = responded.find(each.path);
            if (response == responded.end() || response->second < i) continue;
        }
        if (anew.count(i) != 0 || (is_failure(each) && sent_anew.count(each.path) != 0)) continue;
        if (is_answer && dropped.count(each.path) != 0) each.is_counted = true;
        const bool is_result = each.kind == step_kind::tool && !each.name.starts_with(context_of);
        const bool is_continued = tools == kept_tools::all || repeated.count(each.path) != 0;
        const bool is_used = is_answer || (is_result && is_continued);
        if (i >= cut && !is_used && !ports::is_of_earlier_program(each.kind)) continue;
        each.at = std::min(each.at, clock);
        each.takes_no_turn = each.takes_no_turn || i >= cut;
        kept.push_back(std::move(each));
        if (i < cut) replayed_ = kept.size();
    }
    all_ = std::move(kept);
}

} // namespace

std::string output_cost(const ports::cost_if_lost& cost) {
    std::array<char, 80> text{};
    std::snprintf(text.data(), text.size(), "%lld %.17g %d",
                  static_cast<long long>(cost.output_tokens), cost.usd_per_token.value_or(0),
                  cost.is_bounded ? 1 : 0);
    return text.data();
}

attempt_end end_of_attempt(const error& failure) {
    if (failure.code() == lang::errc::limit) return {ended_by_a_limit, 0};
    const std::optional<double> began = lang::began_extent_of(failure);
    if (failure.code() == lang::errc::timeout && began) return {ended_by_time, *began};
    return {};
}

step_record record_of_attempt(std::string message, const attempt_end& end) {
    step_record failed;
    failed.kind = step_kind::failed;
    failed.body = std::move(message);
    failed.name = end.name;
    failed.at = end.at;
    return failed;
}

void count_lost(step_record& sent, std::int64_t longest_output) {
    sent.kind = step_kind::lost;
    const std::string cost = std::exchange(sent.body, {});
    long long tokens = 0;
    double usd_per_token = 0;
    int is_bounded = 0;
    // Earlier versions of heddle have counted the output in `spent`, or not at all.
    if (std::sscanf(cost.c_str(), "%lld %lg %d", &tokens, &usd_per_token, &is_bounded) != 3) return;
    if (longest_output > 0) {
        const bool is_less = is_bounded != 0 && tokens < longest_output;
        if (!is_less) tokens = longest_output;
    }
    sent.spent.output_tokens += tokens;
    sent.spent.cost_usd += static_cast<double>(tokens) * usd_per_token;
    sent.spent.estimated = true;
}

row_history read_history(std::vector<step_record> records, const failure_reader& failure_of) {
    row_history found;
    open_requests open;
    replayed_records replayed(failure_of);
    for (step_record& each : records) {
        if (each.kind != step_kind::sent) found.spent += each.spent;
        switch (each.kind) {
        case step_kind::sent:
            replayed.send(each);
            open.send(std::move(each));
            break;
        case step_kind::unpaid: open.excuse(each); break;
        case step_kind::lost:
            ++found.lost;
            open.settle(each);
            replayed.lose(each.path);
            break;
        case step_kind::past:
            if (!each.content.is_zero()) ++found.lost;
            break;
        case step_kind::failed: replayed.end_attempt(each); break;
        case step_kind::request:
            open.settle(each);
            replayed.add(std::move(each), false);
            break;
        case step_kind::refused:
            replayed.begin(each.path);
            replayed.add(std::move(each), false);
            break;
        case step_kind::answer:
        case step_kind::composed: {
            const bool lacks_response = open.settle_step(each.path);
            replayed.add(std::move(each), lacks_response);
            break;
        }
        default: replayed.add(std::move(each), false);
        }
    }
    for (step_record& each : open.take()) {
        each.kind = step_kind::lost;
        found.newly_lost.push_back(std::move(each));
    }
    found.replayed = replayed.take();
    found.discarded = replayed.take_discarded();
    return found;
}

std::vector<step_record> last_attempt(std::vector<step_record> records,
                                      const failure_reader& failure_of) {
    const auto of_steps = [](const step_record& each) {
        return each.kind != step_kind::lost && each.kind != step_kind::sent &&
               each.kind != step_kind::unpaid;
    };
    const auto last = std::find_if(records.rbegin(), records.rend(), of_steps);
    if (last != records.rend() && last->kind == step_kind::failed)
        records.erase(std::next(last).base());
    return read_history(std::move(records), failure_of).replayed;
}

} // namespace heddle::host
