#include "store/run_queue.hpp"

#include "store/parking_table.hpp"

namespace heddle::store {

namespace {

struct sizes {
    std::size_t operator()(const row_begun& each) const noexcept {
        return each.id.size() + each.text.size();
    }
    std::size_t operator()(const step_appended& each) const noexcept {
        return each.record.name.size() + each.record.body.size();
    }
    std::size_t operator()(const ports::row_end& each) const noexcept {
        return each.value_json.size() + each.error_json.size();
    }
    std::size_t operator()(const rows_emitted& each) const noexcept {
        return each.rows.size() * sizeof(std::uint64_t);
    }
    std::size_t operator()(const rows_forgotten& each) const noexcept {
        return each.rows.size() * sizeof(std::uint64_t);
    }
    std::size_t operator()(const manifest_set& each) const noexcept {
        std::size_t bytes = 0;
        for (const manifest_entry& entry : each.entries)
            bytes += entry.name.size() + entry.digest.size() + entry.text.size();
        return bytes;
    }
    std::size_t operator()(const parking_change& each) const noexcept { return bytes_of(each); }
    template <class Other>
    std::size_t operator()(const Other&) const noexcept {
        return 0;
    }
};

} // namespace

std::size_t bytes_of(const write_change& change) noexcept {
    return sizeof(queued_write) + std::visit(sizes(), change);
}

} // namespace heddle::store
