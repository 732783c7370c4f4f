// A stack of very many values.
#pragma once

#include <heddle/lang/list.hpp>
#include <heddle/lang/objects.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace heddle::lang {

/// Values in pages that are lists of the heap: it grows without a copy of what is there, counts as
/// memory of the heap, and goes in turns as other values that are dropped.
class value_stack {
public:
    explicit value_stack(heap& memory) : memory_(memory) {}

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] value& operator[](std::size_t i) noexcept {
        return storage_of(pages_[i / page_size])->items()[i % page_size];
    }
    void push(value added) {
        // The first page begins small and grows.
        if (size_ == pages_.size() * page_size) {
            pages_.push_back(size_ == 0 ? value::empty_list()
                                        : make_list_with_capacity(memory_, page_size));
        }
        pages_.back() = list_push_back(memory_, std::move(pages_.back()), std::move(added));
        ++size_;
    }
    [[nodiscard]] value pop() noexcept {
        value& page = pages_.back();
        list_object* const storage = storage_of(page);
        value last = std::move(storage->items()[--storage->end]);
        --size_;
        if (storage->end == 0 && size_ != 0) pages_.pop_back();
        else page = std::move(page).window(0, storage->end);
        return last;
    }

private:
    static constexpr std::size_t page_size = 4096;

    [[nodiscard]] static list_object* storage_of(const value& page) noexcept {
        return static_cast<list_object*>(page.target());
    }

    heap& memory_;
    std::vector<value> pages_;
    std::size_t size_ = 0;
};

} // namespace heddle::lang
