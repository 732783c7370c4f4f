#include "parking/parking_report.hpp"

#include <heddle/base/time_text.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/fs/local_tree.hpp>
#include <heddle/setup/display_text.hpp>

#include <boost/json/object.hpp>

#include <utility>

namespace heddle::cli {

coro::task<result<parking_report>> parking_report::read(std::string folder,
                                                        coro::call_context context) {
    const auto workers = fs::make_worker_pool(*context.loop, 1);
    store::parking_reader reader(*workers, std::move(folder));
    parking_report report;
    result<std::vector<store::parked_batch>> batches = co_await reader.batches(context);
    if (!batches) co_return std::move(batches).error();
    report.batches = *std::move(batches);
    result<store::parking_sums> sums = co_await reader.sums(context);
    if (!sums) co_return std::move(sums).error();
    report.sums = *sums;
    co_return report;
}

std::string parking_report::text() const {
    std::string lines;
    for (const store::parked_batch& each : batches) {
        lines += "batch " + std::to_string(each.number) + ": " + each.service + ":" +
                 utf8::printable_line(each.model) + ", " + setup::counted(each.calls, "call") +
                 ", " + utf8::printable_line(each.state);
        if (each.answered != 0) lines += ", " + std::to_string(each.answered) + " answered";
        if (each.failed != 0) lines += ", " + std::to_string(each.failed) + " failed";
        lines += ", submitted " + utc_text(each.at);
        if (!each.id.empty()) lines += " as " + utf8::printable_line(each.id);
        lines += "\n";
    }
    if (sums.collected + sums.submitted != 0) {
        lines += "waiting: " + setup::counted(sums.submitted, "call") + " in batches, " +
                 setup::counted(sums.collected, "call") + " to be submitted\n";
    }
    return lines;
}

boost::json::array parking_report::json() const {
    boost::json::array all;
    for (const store::parked_batch& each : batches) {
        all.push_back(boost::json::object{{"number", each.number},
                                          {"service", each.service},
                                          {"model", each.model},
                                          {"id", each.id},
                                          {"state", each.state},
                                          {"settled", each.phase == store::batch_phase::settled},
                                          {"calls", each.calls},
                                          {"answered", each.answered},
                                          {"failed", each.failed},
                                          {"submitted", utc_text(each.at)}});
    }
    return all;
}

} // namespace heddle::cli
