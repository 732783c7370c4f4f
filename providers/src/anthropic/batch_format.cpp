#include "batch/batch_format.hpp"
#include "anthropic/wire.hpp"

#include <array>
#include <utility>

namespace heddle::providers {

namespace {

/// A result holds the error without the status that it would have had.
int status_of(std::string_view type) noexcept {
    constexpr std::array<std::pair<std::string_view, int>, 9> known{{{"invalid_request_error", 400},
                                                                     {"authentication_error", 401},
                                                                     {"billing_error", 402},
                                                                     {"permission_error", 403},
                                                                     {"not_found_error", 404},
                                                                     {"request_too_large", 413},
                                                                     {"rate_limit_error", 429},
                                                                     {"timeout_error", 504},
                                                                     {"overloaded_error", 529}}};
    for (const auto& [name, status] : known) {
        if (name == type) return status;
    }
    return 500;
}

class anthropic_format final : public batch_format {
public:
    anthropic_format(std::string prefix, chat_codec& codec, json_reader& reader)
        : base_(std::move(prefix) + "/messages/batches"), codec_(codec), reader_(reader) {}

    batch_limits limits() const noexcept override { return {100'000, 256'000'000}; }
    std::size_t overhead() const noexcept override { return 32; }
    failure_reader reads_failures() const noexcept override { return &anthropic::read_failure; }

    batch_request create(const batch_submission& what, const std::string&) const override {
        std::size_t size = 32;
        for (const batch_call& each : what.calls)
            size += each.body.size() + each.id.size() + overhead();
        std::string body;
        body.reserve(size);
        body += R"({"requests":[)";
        for (const batch_call& each : what.calls) {
            if (body.back() != '[') body += ',';
            body += R"({"custom_id":")";
            body += each.id;
            body += R"(","params":)";
            body += each.body;
            body += '}';
        }
        body += "]}";
        return {"POST", base_, "application/json", std::move(body)};
    }
    batch_request poll(const std::string& id) const override {
        return {"GET", base_ + "/" + id, {}, {}};
    }
    batch_request list(const std::string& next) const override {
        return {"GET", base_ + "?limit=100" + (next.empty() ? "" : "&after_id=" + next), {}, {}};
    }
    batch_request cancel(const std::string& id) const override {
        return {"POST", base_ + "/" + id + "/cancel", {}, {}};
    }
    /// Not at `results_url`: the key would go to whatever host it names.
    std::vector<batch_request> results(const batch_status& of) const override {
        std::vector<batch_request> all;
        if (of.has_results) all.push_back({"GET", base_ + "/" + of.id + "/results", {}, {}, true});
        return all;
    }

    result<batch_status> read_status(const json::object& root) const override {
        batch_status status;
        const std::string_view id = text_member(root, "id");
        if (!is_batch_name(id)) return reader_.protocol_error("the response names no batch", id);
        status.id = id;
        const std::string_view state = text_member(root, "processing_status");
        if (state.empty()) return reader_.protocol_error("the response has no processing_status");
        status.has_results = !text_member(root, "results_url").empty();
        if (state == "ended")
            status.state = status.has_results ? batch_state::ended : batch_state::gone;
        if (const json::object* counts = object_member(root, "request_counts")) {
            const auto of = [&](std::string_view name) {
                return static_cast<std::uint64_t>(tokens_member(*counts, name));
            };
            status.finished = of("succeeded");
            status.failed = of("errored") + of("canceled") + of("expired");
            status.total = of("processing") + status.finished + status.failed;
        }
        status.created = seconds_of(text_member(root, "created_at"));
        return status;
    }

    result<batch_page> read_page(const json::object& root) const override {
        batch_page page;
        HEDDLE_TRY(page.batches, read_statuses(*this, array_member(root, "data")));
        if (!is_true(root, "has_more")) return page;
        const std::string_view last = text_member(root, "last_id");
        if (is_batch_name(last)) page.next = last;
        return page;
    }

    result<batch_response> read_line(const json::object& line, wall_time wall_now) override {
        std::string id(text_member(line, "custom_id"));
        const json::object* ended = object_member(line, "result");
        const std::string_view type = ended ? text_member(*ended, "type") : std::string_view();
        if (type == "expired")
            return not_performed(std::move(id), batch_response::fate::expired,
                                 codec_.provider_name());
        if (type == "canceled")
            return not_performed(std::move(id), batch_response::fate::cancelled,
                                 codec_.provider_name());
        if (type == "succeeded") {
            const json::value* message = member(*ended, "message");
            if (!message) return reader_.protocol_error("a result holds no message");
            return response_of(std::move(id), 200, *message, codec_, wall_now);
        }
        const json::value* failed = type == "errored" ? member(*ended, "error") : nullptr;
        const json::object* body = failed ? failed->if_object() : nullptr;
        if (!body) return reader_.protocol_error("a result is of no known type", type);
        const json::object* inner = object_member(*body, "error");
        const int status = status_of(inner ? text_member(*inner, "type") : std::string_view());
        return response_of(std::move(id), status, *failed, codec_, wall_now);
    }

private:
    std::string base_;
    chat_codec& codec_;
    json_reader& reader_;
};

} // namespace

std::unique_ptr<batch_format> make_anthropic_format(std::string prefix, chat_codec& codec,
                                                    json_reader& reader) {
    return std::make_unique<anthropic_format>(std::move(prefix), codec, reader);
}

} // namespace heddle::providers
