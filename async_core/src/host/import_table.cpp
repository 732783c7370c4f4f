#include "import_table.hpp"

#include <algorithm>
#include <utility>

namespace heddle::host {

import_table::state import_table::state_of(const std::string& file) const {
    const auto found = files_.find(file);
    return found == files_.end() ? state::absent : found->second.now;
}

const lang::value& import_table::value_of(const std::string& file) const {
    return files_.at(file).result;
}

bool import_table::add_need(const std::string& importer, const std::string& file,
                            std::string& circle) {
    // Can the importer be reached from the file?
    std::map<std::string, std::string> reached{{file, ""}};
    std::vector<std::string> work{file};
    while (!work.empty()) {
        const std::string at = std::move(work.back());
        work.pop_back();
        if (at == importer) {
            std::vector<std::string> way{file};
            for (std::string step = at; !step.empty(); step = reached[step])
                way.insert(way.begin(), step);
            for (const std::string& step : way) circle += (circle.empty() ? "" : " -> ") + step;
            return false;
        }
        const auto next = needs_.find(at);
        if (next == needs_.end()) continue;
        for (const std::string& needed : next->second) {
            if (reached.emplace(needed, at).second) work.push_back(needed);
        }
    }
    needs_[importer].insert(file);
    return true;
}

void import_table::remove_need(const std::string& importer, const std::string& file) noexcept {
    const auto found = needs_.find(importer);
    if (found == needs_.end()) return;
    if (const auto one = found->second.find(file); one != found->second.end())
        found->second.erase(one);
    if (found->second.empty()) needs_.erase(found);
}

lang::value import_table::begin(lang::heap& memory, std::string file, std::string importer) {
    auto object = std::make_unique<turn>(weak_from_this(), file, std::move(importer));
    files_[file].now = state::loading;
    return lang::make_host(memory, std::move(object));
}

void import_table::finish(const std::string& file, lang::value v) {
    entry& ended = files_[file];
    ended.now = state::done;
    ended.result = std::move(v);
    wake(ended);
}

void import_table::forget(const std::string& file) noexcept {
    const auto found = files_.find(file);
    if (found == files_.end()) return;
    entry gone = std::move(found->second);
    files_.erase(found);
    wake(gone);
}

void import_table::clear() noexcept {
    files_.clear();
    needs_.clear();
}

void import_table::wake(entry& changed) noexcept {
    for (coro::wait_point* each : std::exchange(changed.waiting, {})) each->notify();
}

/// Is listed with its file while it lives.
class import_table::waiter {
public:
    waiter(import_table& owner, std::string file) : owner_(owner), file_(std::move(file)) {
        owner_.files_[file_].waiting.push_back(&point);
    }
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;
    ~waiter() {
        if (const auto found = owner_.files_.find(file_); found != owner_.files_.end())
            std::erase(found->second.waiting, &point);
    }
    coro::wait_point point;

private:
    import_table& owner_;
    std::string file_;
};

coro::task<coro::wake> import_table::changed(std::string file, coro::call_context context) {
    waiter own(*this, std::move(file));
    const coro::wake woken = co_await own.point.wait(context);
    co_return woken;
}

import_table::turn::~turn() {
    const auto owner = owner_.lock();
    if (!owner) return;
    owner->remove_need(importer_, file_);
    owner->forget(file_);
}

void import_table::turn::finish(lang::value v) {
    const auto owner = owner_.lock();
    if (!owner) return;
    owner->finish(file_, std::move(v));
    owner->remove_need(importer_, file_);
    owner_.reset();
}

} // namespace heddle::host
