#include "tasks/run/conversation.hpp"

#include <heddle/lang/text.hpp>

#include <algorithm>

namespace heddle::tasks {

std::size_t conversation_turn::bytes() const noexcept {
    return prompt.size() + lang::string_bytes(response).size();
}

void conversation::keep(conversation_turn turn) {
    bytes_ += turn.bytes();
    turns_.push_back(std::move(turn));
    while (turns_.size() > max_turns || bytes_ > max_bytes) {
        bytes_ -= turns_.front().bytes();
        turns_.pop_front();
        if (turns_.empty()) break;
    }
}

void conversation::record(std::string prompt, lang::value response) {
    take_awaited();
    keep({std::move(prompt), std::move(response), realm_.note_host_event()});
}

void conversation::absorb(conversation& ended) {
    for (conversation_turn& each : ended.turns_) {
        each.event = realm_.note_host_event();
        keep(std::move(each));
    }
    ended.turns_.clear();
    ended.bytes_ = 0;
}

void conversation::close(branch_histories& group) {
    spawned_.erase(std::remove(spawned_.begin(), spawned_.end(), &group), spawned_.end());
}

void conversation::take_awaited() {
    for (branch_histories* each : spawned_) each->hand_over_awaited(*this);
}

std::vector<const conversation_turn*> conversation::last(std::size_t most) {
    take_awaited();
    std::vector<const conversation_turn*> found;
    std::uint64_t until = UINT64_MAX;
    for (const conversation* each = this; each && found.size() < most; each = each->outer_.get()) {
        for (auto turn = each->turns_.rbegin(); turn != each->turns_.rend(); ++turn) {
            if (found.size() == most) break;
            if (turn->event <= until) found.push_back(&*turn);
        }
        until = std::min(until, each->begun_);
    }
    return found;
}

std::shared_ptr<conversation> branch_histories::of(std::uint32_t slot) {
    branch& found = branches_[slot];
    if (!found.said) {
        found.said = std::make_shared<conversation>(realm_, outer_, group_.begun(slot));
    }
    return found.said;
}

/// Of a group only the last turns will be kept: a map over a million rows holds no more.
void branch_histories::branch_ended(std::uint32_t slot) noexcept {
    const auto found = branches_.find(slot);
    if (found == branches_.end()) return;
    found->second.ended = true;
    ended_turns_ += found->second.said->size();
    while (!branches_.empty()) {
        const auto first = branches_.begin();
        const std::size_t turns = first->second.said->size();
        if (!first->second.ended || ended_turns_ - turns < conversation::max_turns) return;
        ended_turns_ -= turns;
        branches_.erase(first);
    }
}

void branch_histories::group_ended(std::optional<std::uint32_t> winner) {
    for (auto& [slot, branch] : branches_) {
        if (!winner || *winner == slot) outer_->absorb(*branch.said);
    }
    branches_.clear();
    ended_turns_ = 0;
}

void branch_histories::hand_over_awaited(conversation& to) {
    for (auto each = branches_.begin(); each != branches_.end();) {
        if (!each->second.ended || !group_.awaited(each->first)) {
            ++each;
            continue;
        }
        ended_turns_ -= each->second.said->size();
        to.absorb(*each->second.said);
        each = branches_.erase(each);
    }
}

branch_histories& group_histories::in(lang::realm& realm,
                                      const std::shared_ptr<conversation>& outer,
                                      const lang::branch_group& group) {
    for (const auto& each : parts_) {
        if (each->outer() == outer) return *each;
    }
    return *parts_.emplace_back(std::make_unique<branch_histories>(realm, outer, group));
}

void group_histories::branch_ended(std::uint32_t slot) noexcept {
    for (const auto& each : parts_) each->branch_ended(slot);
}

void group_histories::group_ended(std::optional<std::uint32_t> winner) {
    for (const auto& each : parts_) each->group_ended(winner);
}

std::shared_ptr<conversation> conversation_at(lang::realm& realm, const conversation_root& root,
                                              const lang::branch_place& place) {
    // From the branch outwards to where the conversation began, then back inwards.
    std::vector<lang::branch_place> inwards;
    lang::branch_place at = place;
    while (!at.group.is_nil()) {
        auto* group = static_cast<lang::branch_group*>(lang::host_of(at.group));
        if (!group->sandbox().identical(root.sandbox) || group->begun(at.slot) < root.opened) break;
        inwards.push_back(at);
        at = lang::branch_place(group->outer());
    }
    std::shared_ptr<conversation> found = root.said;
    while (!inwards.empty()) {
        const lang::branch_place next = std::move(inwards.back());
        inwards.pop_back();
        auto* group = static_cast<lang::branch_group*>(lang::host_of(next.group));
        if (!group->data) group->data = std::make_unique<group_histories>();
        found = static_cast<group_histories&>(*group->data).in(realm, found, *group).of(next.slot);
    }
    return found;
}

} // namespace heddle::tasks
