#include "batch/batch_format.hpp"
#include "common/json_writer.hpp"
#include "common/request_parts.hpp"
#include "gemini/wire.hpp"

#include <array>
#include <utility>

namespace heddle::providers {

namespace {

constexpr std::string_view batches = "batches/";
constexpr std::string_view files = "files/";

/// The errors of results are those of gRPC, which has numbers of its own.
int status_of(std::int64_t code) noexcept {
    constexpr std::array<int, 17> known{200, 499, 500, 400, 504, 404, 409, 403, 429,
                                        400, 409, 400, 501, 500, 503, 500, 401};
    return code > 0 && code < static_cast<std::int64_t>(known.size())
               ? known[static_cast<std::size_t>(code)]
               : 500;
}

/// Counts are strings, and missing when they are zero.
std::uint64_t count_of(const json::object& object, std::string_view name) {
    const std::string_view text = text_member(object, name);
    const auto count = text.empty() ? std::optional(count_member(object, name)) : parse_count(text);
    return count && *count > 0 ? static_cast<std::uint64_t>(*count) : 0;
}

class gemini_format final : public batch_format {
public:
    gemini_format(std::string prefix, chat_codec& codec, json_reader& reader)
        : base_(std::move(prefix) + "/"), codec_(codec), reader_(reader) {}

    /// An inline request holds 20 MB, and a batch that expires loses everything.
    batch_limits limits() const noexcept override { return {20'000, 19'000'000}; }
    std::size_t overhead() const noexcept override { return 48; }
    failure_reader reads_failures() const noexcept override { return &gemini::read_failure; }
    /// A batch that has ended holds its results.
    std::size_t max_document() const noexcept override { return 256 * 1024 * 1024; }

    batch_request create(const batch_submission& what, const std::string&) const override {
        std::string_view model = what.model;
        constexpr std::string_view kind = "models/";
        if (model.starts_with(kind)) model.remove_prefix(kind.size());
        std::string target = base_ + std::string(kind);
        append_path_segment(target, model);
        target += ":batchGenerateContent";
        std::size_t size = 256;
        for (const batch_call& each : what.calls)
            size += each.body.size() + each.id.size() + overhead();
        std::string body;
        body.reserve(size);
        body += R"({"batch":{"displayName":")" + what.mark +
                R"(","inputConfig":{"requests":{"requests":[)";
        for (const batch_call& each : what.calls) {
            if (body.back() != '[') body += ',';
            body += R"({"request":)";
            body += each.body;
            body += R"(,"metadata":{"key":")";
            body += each.id;
            body += R"("}})";
        }
        body += "]}}}}";
        return {"POST", std::move(target), "application/json", std::move(body)};
    }
    batch_request poll(const std::string& id) const override {
        return {"GET", base_ + std::string(batches) + id, {}, {}};
    }
    /// Entries of batches that have ended may hold all of their results.
    batch_request list(const std::string& next) const override {
        std::string target = base_ + "batches?pageSize=20";
        if (!next.empty()) {
            target += "&pageToken=";
            append_path_segment(target, next);
        }
        return {"GET", std::move(target), {}, {}};
    }
    batch_request cancel(const std::string& id) const override {
        return {"POST", base_ + std::string(batches) + id + ":cancel", "application/json", "{}"};
    }
    std::vector<batch_request> results(const batch_status& of) const override {
        std::vector<batch_request> all;
        for (const std::string& file : of.files)
            all.push_back(
                {"GET", base_ + std::string(files) + file + ":download?alt=media", {}, {}, true});
        if (all.empty() && of.has_results) all.push_back(poll(of.id));
        return all;
    }

    result<batch_status> read_status(const json::object& root) const override {
        batch_status status;
        std::string_view name = text_member(root, "name");
        if (name.starts_with(batches)) name.remove_prefix(batches.size());
        if (!is_batch_name(name))
            return reader_.protocol_error("the response names no batch", name);
        status.id = name;
        const json::object none;
        const json::object* metadata = object_member(root, "metadata");
        if (!metadata) metadata = &none;
        status.mark = text_member(*metadata, "displayName");
        status.created = seconds_of(text_member(*metadata, "createTime"));
        if (const json::object* counts = object_member(*metadata, "batchStats")) {
            status.finished = count_of(*counts, "successfulRequestCount");
            status.failed = count_of(*counts, "failedRequestCount");
            if (const auto total = count_of(*counts, "requestCount")) status.total = total;
        }
        const json::object* failed = object_member(root, "error");
        if (failed) {
            status.problems.push_back(
                {std::to_string(count_member(*failed, "code")),
                 presentable(text_member(*failed, "message"), 500, reader_.options().hidden),
                 std::nullopt});
        }
        status.state = state_of(text_member(*metadata, "state"), root, failed);
        if (status.state != batch_state::ended) {
            status.may_pass = status.state == batch_state::refused && failed &&
                              status_of(count_member(*failed, "code")) == 429;
            return status;
        }
        const json::object* output = output_of(root);
        status.has_results = output != nullptr;
        if (!output) return status;
        std::string_view file = text_member(*output, "responsesFile");
        if (file.empty()) return status;
        if (file.starts_with(files)) file.remove_prefix(files.size());
        if (!is_batch_name(file))
            return reader_.protocol_error("the name of a file cannot be used", file);
        status.files.emplace_back(file);
        return status;
    }

    result<batch_page> read_page(const json::object& root) const override {
        batch_page page;
        HEDDLE_TRY(page.batches, read_statuses(*this, array_member(root, "operations")));
        const std::string_view next = text_member(root, "nextPageToken");
        constexpr std::size_t max_token = 4096;
        if (next.size() <= max_token) page.next = next;
        return page;
    }

    result<batch_response> read_line(const json::object& line, wall_time wall_now) override {
        std::string id(text_member(line, "key"));
        if (const json::object* metadata = object_member(line, "metadata"); metadata && id.empty())
            id = text_member(*metadata, "key");
        if (const json::value* response = member(line, "response"))
            return response_of(std::move(id), 200, *response, codec_, wall_now);
        const json::object* failed = object_member(line, "error");
        if (!failed) return reader_.protocol_error("a result is neither a response nor an error");
        service_failure failure;
        failure.status = status_of(count_member(*failed, "code"));
        failure.message = text_member(*failed, "message");
        return batch_response{std::move(id), batch_response::fate::failed,
                              reader_.service_error(failure)};
    }

    result<void> read_document(const json::object& root, const batch_sink& sink,
                               wall_time wall_now) override {
        const json::object* output = output_of(root);
        const json::object* outer = output ? object_member(*output, "inlinedResponses") : nullptr;
        const json::array* list = outer ? array_member(*outer, "inlinedResponses") : nullptr;
        if (!list) return reader_.protocol_error("the response has no results");
        for (const json::value& each : *list) {
            const json::object* one = each.if_object();
            if (!one) continue;
            auto read = read_line(*one, wall_now);
            if (!read) return std::move(read).error();
            HEDDLE_CHECK(sink(*std::move(read)));
        }
        return {};
    }

private:
    /// The reference names the states BATCH_STATE_*, the guide JOB_STATE_*.
    static batch_state state_of(std::string_view name, const json::object& root,
                                const json::object* failed) {
        const std::size_t at = name.rfind("STATE_");
        const std::string_view state = at == std::string_view::npos
                                           ? name
                                           : name.substr(at + std::string_view("STATE_").size());
        if (state == "SUCCEEDED") return batch_state::ended;
        if (state == "FAILED") return batch_state::refused;
        if (state == "CANCELLED") return batch_state::cancelled;
        if (state == "EXPIRED") return batch_state::expired;
        if (!is_true(root, "done")) return batch_state::running;
        return failed ? batch_state::refused : batch_state::ended;
    }

    /// It is in either of two places.
    static const json::object* output_of(const json::object& root) {
        if (const json::object* response = object_member(root, "response")) {
            const json::object* inner = object_member(*response, "output");
            return inner ? inner : response;
        }
        const json::object* metadata = object_member(root, "metadata");
        return metadata ? object_member(*metadata, "output") : nullptr;
    }

    std::string base_;
    chat_codec& codec_;
    json_reader& reader_;
};

} // namespace

std::unique_ptr<batch_format> make_gemini_format(std::string prefix, chat_codec& codec,
                                                 json_reader& reader) {
    return std::make_unique<gemini_format>(std::move(prefix), codec, reader);
}

} // namespace heddle::providers
