#include "sources/import_notes.hpp"

namespace heddle::cli {

coro::task<result<host::imported_source>> import_notes::load(std::string path, std::string from,
                                                             coro::call_context context) {
    const auto key = std::make_pair(path, from);
    if (const auto pinned = pinned_.find(key); pinned != pinned_.end()) co_return pinned->second;
    result<host::imported_source> found =
        co_await behind_.load(std::move(path), std::move(from), context);
    if (!found || use_ == import_use::nothing) co_return found;
    if (!is_closed_) texts_[found->name] = found->text;
    if (use_ == import_use::pinned && pinned_bytes_ + found->text.size() <= max_pinned_bytes) {
        // Another branch may have read it meanwhile: the first one counts.
        const auto [place, is_new] = pinned_.emplace(key, *found);
        if (is_new) pinned_bytes_ += found->text.size();
        co_return place->second;
    }
    co_return found;
}

} // namespace heddle::cli
