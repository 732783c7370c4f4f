// `heddle cache`: the cached responses of models.
#include "command_line/command.hpp"
#include "command_line/workflow_option_reader.hpp"
#include "report_error.hpp"
#include "run_to_end.hpp"

#include <heddle/base/time_text.hpp>
#include <heddle/fs/local_tree.hpp>
#include <heddle/setup/config/config_file.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/json_line.hpp>
#include <heddle/setup/services/cache_file.hpp>

#include <boost/json/object.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>

namespace heddle::cli {

namespace {

enum class cache_action : std::uint8_t { stats, clear };

struct cache_request {
    cache_action what = cache_action::stats;
    std::optional<std::string> config;
    std::optional<std::string> file;
    std::optional<double> older_than_days; ///< clear: only these
    bool json = false;
};

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

json::object stats_json(const response_store_stats& stats, const std::string& file) {
    json::object members{{"file", file},
                         {"entries", stats.entries},
                         {"bytes", stats.bytes},
                         {"max_bytes", stats.max_bytes},
                         {"expired", stats.expired},
                         {"oldest", nullptr},
                         {"newest", nullptr}};
    if (stats.oldest) members["oldest"] = utc_text(*stats.oldest);
    if (stats.newest) members["newest"] = utc_text(*stats.newest);
    return members;
}

std::string stats_text(const response_store_stats& stats, const std::string& file) {
    std::string text = file + ": " + setup::counted(stats.entries, "response") + ", " +
                       size_text(stats.bytes) + " of " + size_text(stats.max_bytes);
    if (stats.expired != 0) text += ", " + std::to_string(stats.expired) + " too old";
    if (stats.oldest) text += ", since " + utc_text(*stats.oldest);
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

exit_code manage_cache(const cache_request& asked, const setup::environment& variables,
                       console& output) {
    const setup::consent_store consents = setup::consents_of(variables);
    auto settings = setup::find_config({asked.config, ".", variables.config_folder(), &consents});
    if (!settings) return report_usage_error(settings.error(), asked.json, output);
    auto place = setup::find_cache(asked.file, settings->cache, variables);
    if (!place) return report_usage_error(place.error(), asked.json, output);
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
        run_to_end(loop, perform(&asked, store.get(), context, &found));
    } else {
        found.stats->max_bytes = place->max_bytes;
    }
    std::optional<error> wrong;
    if (!found.stats) wrong = found.stats.error();
    if (!found.removed) wrong = found.removed.error();
    if (wrong) return report_error(*wrong, exit_code::failed, asked.json, output);
    if (asked.what == cache_action::clear) {
        output.out(asked.json
                       ? setup::json_line(json::object{{"file", file}, {"removed", *found.removed}})
                       : "removed " + setup::counted(*found.removed, "response") + " from " + file +
                             "\n");
        return exit_code::done;
    }
    output.out(asked.json ? setup::json_line(stats_json(*found.stats, file))
                          : stats_text(*found.stats, file));
    return exit_code::done;
}

class cache_work : public command {
public:
    explicit cache_work(cache_action what) { asked_.what = what; }
    void add_options(option_list& to) override {
        if (asked_.what == cache_action::clear) {
            to.option("--older-than", asked_.older_than_days,
                      "Remove only responses that are at least this many days old")
                .value("DAYS")
                .range(0, 36'500);
        }
        to.option("--cache-file", asked_.file, "File of the cache").value("FILE");
        add_config_option(to, asked_.config);
        to.flag("--json", asked_.json, "Print one JSON object on standard output");
    }
    exit_code run(command_context context) override {
        return manage_cache(asked_, context.variables, context.output);
    }

private:
    cache_request asked_;
};

class cache_stats_work final : public cache_work {
public:
    cache_stats_work() : cache_work(cache_action::stats) {}
};

class cache_clear_work final : public cache_work {
public:
    cache_clear_work() : cache_work(cache_action::clear) {}
};

constexpr command_row rows[] = {
    {.name = "cache",
     .summary = "Show or clear the cache of model responses",
     .details =
         R"(With --cache, or [cache] enabled = true in heddle.toml, responses are stored by service, model and
request, and an equal call reuses the stored response. Errors, refusals and truncated responses are
not stored. The file is $XDG_CACHE_HOME/heddle/responses.db or ~/.cache/heddle/responses.db unless
--cache-file or heddle.toml names another.

Examples:
  heddle run rows.heddle --cache
  heddle cache stats
  heddle cache clear --older-than 7)",
     .group = command_group::models},
    {.name = "cache stats",
     .summary = "Show the size and the use of the cache",
     .details = {},
     .group = command_group::models,
     .make = &make_command<cache_stats_work>},
    {.name = "cache clear",
     .summary = "Remove stored responses",
     .details = {},
     .group = command_group::models,
     .make = &make_command<cache_clear_work>},
};

} // namespace

std::span<const command_row> cache_commands() noexcept { return rows; }

} // namespace heddle::cli
