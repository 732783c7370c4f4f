// `heddle cache`: what is kept of the answers of models.
#include "commands/commands.hpp"
#include "commands/evaluation.hpp"
#include "config/config_file.hpp"
#include "display_text.hpp"
#include "json_line.hpp"
#include "services/cache_file.hpp"

#include <heddle/coro/spawn.hpp>
#include <heddle/fs/local_tree.hpp>

#include <boost/json/object.hpp>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>

namespace heddle::cli {

namespace {

namespace json = boost::json;
using ports::response_store_stats;

std::string size_text(std::uint64_t bytes) {
    static constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB"};
    auto amount = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; amount >= 1000 && unit + 1 < std::size(units); ++unit) amount /= 1000;
    char text[32];
    std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", amount, units[unit]);
    return text;
}

std::string time_text(std::chrono::system_clock::time_point when) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

json::object stats_json(const response_store_stats& stats, const std::string& file) {
    json::object made{{"file", file},
                      {"entries", stats.entries},
                      {"bytes", stats.bytes},
                      {"max_bytes", stats.max_bytes},
                      {"expired", stats.expired},
                      {"oldest", nullptr},
                      {"newest", nullptr}};
    if (stats.oldest) made["oldest"] = time_text(*stats.oldest);
    if (stats.newest) made["newest"] = time_text(*stats.newest);
    return made;
}

std::string stats_text(const response_store_stats& stats, const std::string& file) {
    std::string text = file + ": " + counted(stats.entries, "answer") + ", " +
                       size_text(stats.bytes) + " of " + size_text(stats.max_bytes);
    if (stats.expired != 0) text += ", " + std::to_string(stats.expired) + " too old";
    if (stats.oldest) text += ", since " + time_text(*stats.oldest);
    return text + "\n";
}

/// What one run of the command found.
struct cache_outcome {
    result<response_store_stats> stats = response_store_stats{};
    result<std::uint64_t> removed = std::uint64_t{0};
};

coro::task<void> perform(const cache_request* asked, ports::response_store* store,
                         coro::call_context context, cache_outcome* into) {
    if (asked->what == cache_action::clear) {
        std::optional<std::chrono::seconds> age;
        if (asked->older_than_days) {
            age = std::chrono::seconds(std::llround(*asked->older_than_days * 86'400));
        }
        result<std::uint64_t> removed = co_await store->clear(age, context);
        into->removed = std::move(removed);
        co_return;
    }
    result<response_store_stats> stats = co_await store->stats(context);
    into->stats = std::move(stats);
}

} // namespace

exit_code manage_cache(const cache_request& asked, const environment& variables, console& output) {
    const consent_store consents = consents_of(variables);
    auto settings = find_config({asked.config, ".", variables.config_folder(), &consents});
    if (!settings) return tell_usage_error(settings.error(), asked.json, output);
    auto place = find_cache(asked.file, settings->cache, variables);
    if (!place) return tell_usage_error(place.error(), asked.json, output);
    const std::string file = place->file;
    cache_outcome found;
    std::error_code failed;
    // What is not there is empty, and looking at it makes no file.
    if (std::filesystem::exists(file, failed)) {
        boost::asio::io_context io{1};
        coro::event_loop loop(io);
        const auto workers = fs::make_worker_pool(loop, 1);
        const auto store = store::make_response_store(*workers, *std::move(place));
        const coro::call_context context{&loop, nullptr, {}};
        std::exception_ptr broken;
        coro::spawn(loop, perform(&asked, store.get(), context, &found),
                    [&](std::exception_ptr thrown) {
                        broken = thrown;
                        io.stop();
                    });
        io.run();
        if (broken) std::rethrow_exception(broken);
    } else {
        found.stats->max_bytes = place->max_bytes;
    }
    std::optional<error> wrong;
    if (!found.stats) wrong = found.stats.error();
    if (!found.removed) wrong = found.removed.error();
    if (wrong) return tell_error(*wrong, exit_code::failed, asked.json, output);
    if (asked.what == cache_action::clear) {
        output.out(asked.json
                       ? json_line(json::object{{"file", file}, {"removed", *found.removed}})
                       : "removed " + counted(*found.removed, "answer") + " from " + file + "\n");
        return exit_code::done;
    }
    output.out(asked.json ? json_line(stats_json(*found.stats, file))
                          : stats_text(*found.stats, file));
    return exit_code::done;
}

} // namespace heddle::cli
