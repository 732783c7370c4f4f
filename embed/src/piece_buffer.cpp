#include "piece_buffer.hpp"

#include <utility>

namespace heddle::embed {

bool piece_buffer::has_room() const {
    const std::lock_guard held(mutex_);
    return !is_full();
}

void piece_buffer::add(std::string_view task, std::uint64_t call, std::string_view text) {
    const std::lock_guard held(mutex_);
    if (abandoned_ || text.empty()) return;
    const std::uint64_t number = numbers_.try_emplace(call, numbers_.size() + 1).first->second;
    if (reader_) {
        std::exchange(reader_, {}).complete(piece{std::string(task), number, std::string(text)});
        return;
    }
    if (let_go_ && bytes_ >= max_bytes_) return;
    bytes_ += text.size();
    if (!waiting_.empty() && waiting_.back().call == number) waiting_.back().text += text;
    else waiting_.push_back({std::string(task), number, std::string(text)});
}

void piece_buffer::close() {
    const std::lock_guard held(mutex_);
    closed_ = true;
    if (reader_) std::exchange(reader_, {}).complete(std::nullopt);
}

void piece_buffer::next(reader handler) {
    bool reopened = false;
    {
        const std::lock_guard held(mutex_);
        if (!waiting_.empty()) {
            const bool was_full = is_full();
            piece first = std::move(waiting_.front());
            waiting_.pop_front();
            bytes_ -= first.text.size();
            reopened = was_full && !is_full();
            handler.complete(std::move(first));
        } else if (closed_ || abandoned_ || reader_) {
            handler.complete(std::nullopt);
        } else {
            handler.on_cancel([weak = weak_from_this(), number = ++readers_] {
                if (const auto self = weak.lock()) self->cancel_reader(number);
            });
            reader_ = std::move(handler);
        }
    }
    if (reopened) on_room_();
}

void piece_buffer::cancel_reader(std::uint64_t number) {
    const std::lock_guard held(mutex_);
    if (reader_ && number == readers_) std::exchange(reader_, {}).complete(std::nullopt);
}

void piece_buffer::let_go() {
    bool reopened = false;
    {
        const std::lock_guard held(mutex_);
        reopened = is_full();
        let_go_ = true;
    }
    if (reopened) on_room_();
}

void piece_buffer::abandon() {
    bool reopened = false;
    {
        const std::lock_guard held(mutex_);
        reopened = is_full();
        let_go_ = true;
        abandoned_ = true;
        waiting_.clear();
        bytes_ = 0;
        if (reader_) std::exchange(reader_, {}).complete(std::nullopt);
    }
    if (reopened) on_room_();
}

} // namespace heddle::embed
