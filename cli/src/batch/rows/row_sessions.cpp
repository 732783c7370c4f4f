#include "batch/rows/row_sessions.hpp"

#include <heddle/host/step_log.hpp>

#include <utility>

namespace heddle::cli {

namespace {

bool is_misfit(const error& failure) {
    return dynamic_cast<const host::journal_mismatch*>(failure.info().payload.get()) != nullptr;
}

} // namespace

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
    result<std::unique_ptr<row_session>> loaded = co_await load(bounds);
    if (!loaded && are_earlier_ && !has_tried_ && is_misfit(loaded.error())) {
        // Another version of heddle may evaluate it in other steps.
        notes_ = top_level_notes(notes_.seed());
        are_earlier_ = false;
        result<std::unique_ptr<row_session>> again = co_await load(bounds);
        loaded = std::move(again);
    }
    if (!loaded || std::exchange(has_tried_, true)) co_return loaded;
    co_return share(*std::move(loaded));
}

coro::task<result<std::unique_ptr<row_session>>> row_sessions::load(host::run_options bounds) {
    const bool is_first = place_.sources && !notes_.has_records();
    if (is_first) place_.sources->begin();
    last_failure_.clear();
    result<std::unique_ptr<row_session>> loaded = co_await row_session::load(
        place_.engine, new_meter(), program_, bounds, &notes_, &last_failure_);
    if (!is_first) co_return loaded;
    std::vector<program_source> sources = place_.sources->end();
    if (loaded) notes_.note_sources(std::move(sources));
    co_return loaded;
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
