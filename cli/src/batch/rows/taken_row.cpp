#include "batch/rows/taken_row.hpp"

namespace heddle::cli {

coro::task<result<std::optional<taken_row>>> next_taken(rows::row_reader* reader,
                                                        row_filter* filter,
                                                        coro::call_context context) {
    while (!filter || !filter->is_complete()) {
        if (auto stop = context.stop_error()) co_return *std::move(stop);
        auto item = reader->next();
        if (!item) co_return std::move(item).error();
        if (!*item) break;
        std::optional<taken_row> taken(taken_row{**std::move(item), {}});
        if (filter) {
            result<row_filter::verdict> found = co_await filter->look(&taken->item, context);
            if (!found) co_return std::move(found).error();
            if (!found->takes) continue;
            taken->problem = std::move(found->problem);
        }
        co_return taken;
    }
    co_return std::optional<taken_row>();
}

} // namespace heddle::cli
