#include "open_requests.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace heddle::host {

using ports::digest128;
using ports::step_kind;
using ports::step_record;

namespace {

[[nodiscard]] std::vector<step_record>::iterator find_in(std::vector<step_record>& among,
                                                         const digest128& content, step_kind kind) {
    return std::find_if(among.begin(), among.end(), [&](const step_record& each) {
        return each.kind == kind && each.content == content;
    });
}

} // namespace

void open_requests::send(step_record record) {
    last_.insert_or_assign(record.path, record.content);
    std::vector<step_record>& sent = by_path_[record.path];
    const auto again = find_in(sent, record.content, step_kind::unpaid);
    if (again != sent.end()) *again = std::move(record);
    else sent.push_back(std::move(record));
}

void open_requests::excuse(const step_record& record) {
    const auto found = by_path_.find(record.path);
    if (found == by_path_.end()) return;
    const auto same = find_in(found->second, record.content, step_kind::sent);
    if (same != found->second.end()) same->kind = step_kind::unpaid;
}

void open_requests::settle(const step_record& record) {
    const auto found = by_path_.find(record.path);
    if (found == by_path_.end()) return;
    auto& sent = found->second;
    // A response has counted the attempts before it.
    std::uint32_t attempts = 1;
    if (record.kind == step_kind::request) attempts = std::max(attempts, record.spent.requests);
    for (; attempts != 0; --attempts) {
        auto same = find_in(sent, record.content, step_kind::sent);
        if (same == sent.end()) same = find_in(sent, record.content, step_kind::unpaid);
        if (same == sent.end()) break;
        sent.erase(same);
    }
    if (sent.empty()) by_path_.erase(found);
}

bool open_requests::settle_step(const digest128& path) {
    const auto found = by_path_.find(path);
    if (found == by_path_.end()) return false;
    const digest128 last = last_.at(path);
    const auto& sent = found->second;
    const bool lacks = std::any_of(sent.begin(), sent.end(), [&](const step_record& each) {
        return each.content == last && each.part.is_zero();
    });
    by_path_.erase(found);
    return lacks;
}

std::vector<step_record> open_requests::take() {
    std::vector<step_record> all;
    for (auto& [path, sent] : by_path_) {
        for (step_record& each : sent) {
            if (each.kind == step_kind::sent) all.push_back(std::move(each));
        }
    }
    by_path_.clear();
    return all;
}

} // namespace heddle::host
