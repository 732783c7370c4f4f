#include "batch/row_sessions.hpp"

#include <utility>

namespace heddle::cli {

/// The session that is made next gets the meter.
std::unique_ptr<row_meter> row_sessions::new_meter() {
    auto meter = std::make_unique<row_meter>(place_.counter);
    place_.observer = meter.get();
    return meter;
}

coro::task<result<std::unique_ptr<row_session>>> row_sessions::open(coro::call_context context) {
    if (image_) co_return row_session::from_image(*image_, new_meter());
    host::run_options bounds = place_.bounds;
    bounds.cancel = context.cancel;
    bounds.until = context.until;
    result<std::unique_ptr<row_session>> loaded = co_await row_session::load(
        place_.engine, new_meter(), program_, bounds, &notes_, &last_failure_);
    if (!loaded || std::exchange(has_tried_, true)) co_return loaded;
    co_return share(*std::move(loaded));
}

/// Makes the image of the first session that was loaded.
result<std::unique_ptr<row_session>> row_sessions::share(std::unique_ptr<row_session> loaded) {
    const std::string obstacle = host::session_image::obstacle_of(loaded->get());
    if (!obstacle.empty()) {
        place_.engine.log().write(log_level::info, "batch",
                                  "each row loads " + program_.name +
                                      " again: its top level leaves " + obstacle + " behind");
        return loaded;
    }
    image_ = host::session_image::make(row_session::release(std::move(loaded)));
    return row_session::from_image(*image_, new_meter());
}

} // namespace heddle::cli
