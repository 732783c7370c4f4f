// Pieces of text between a workflow and who reads them.
#pragma once

#include "pending_handler.hpp"

#include <heddle/job.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

namespace heddle::embed {

/// Holds text up to a bound. The shard adds, and any other thread takes. Threads: any.
class piece_buffer : public std::enable_shared_from_this<piece_buffer> {
public:
    using reader = pending_handler<std::optional<piece>>;

    /// `on_room` is called by who takes, when the buffer was full and no longer is. Of 0 bytes it
    /// holds one piece, as of 1: with room for none, nothing would be read.
    piece_buffer(std::size_t max_bytes, std::function<void()> on_room)
        : max_bytes_(std::max<std::size_t>(max_bytes, 1)), on_room_(std::move(on_room)) {}

    // The shard.
    [[nodiscard]] bool has_room() const;
    /// `call`: identifies the call among those in progress.
    void add(std::string_view task, std::uint64_t call, std::string_view text);
    /// There are no more pieces.
    void close();

    // The reader.
    void next(reader handler);
    /// Nothing is held back any more: what does not fit is dropped.
    void let_go();
    /// As let_go, and nothing is kept.
    void abandon();

private:
    [[nodiscard]] bool is_full() const noexcept { return !let_go_ && bytes_ >= max_bytes_; }
    void cancel_reader(std::uint64_t number);

    mutable std::mutex mutex_;
    const std::size_t max_bytes_;
    const std::function<void()> on_room_;
    std::deque<piece> waiting_;
    std::size_t bytes_ = 0;
    std::map<std::uint64_t, std::uint64_t> numbers_; ///< of calls, as the reader knows them
    reader reader_;
    std::uint64_t readers_ = 0; ///< so far
    bool closed_ = false;
    bool let_go_ = false;
    bool abandoned_ = false;
};

} // namespace heddle::embed
