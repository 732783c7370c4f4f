#include "batch/batch_format.hpp"
#include "common/json_writer.hpp"
#include "openai/service.hpp"

#include <algorithm>

namespace heddle::providers {

namespace {

constexpr std::string_view mark_name = "heddle";

class openai_format final : public batch_format {
public:
    openai_format(std::string prefix, std::string_view path, chat_codec& codec, json_reader& reader)
        : prefix_(std::move(prefix)), endpoint_("/v1" + std::string(path)), codec_(codec),
          reader_(reader) {}

    batch_limits limits() const noexcept override { return {50'000, 200'000'000}; }
    std::size_t overhead() const noexcept override { return endpoint_.size() + 128; }
    failure_reader reads_failures() const noexcept override { return &openai::read_failure; }

    std::optional<batch_request> upload(const batch_submission& what) const override {
        // Lines of JSON hold no line end, so they cannot hold the boundary either.
        const std::string boundary = "heddle-" + what.mark;
        const std::string part = "--" + boundary + "\r\nContent-Disposition: form-data; name=";
        batch_request request;
        request.method = "POST";
        request.target = prefix_ + "/files";
        request.content_type = "multipart/form-data; boundary=" + boundary;
        std::size_t size = 1024;
        for (const batch_call& each : what.calls)
            size += each.body.size() + each.id.size() + overhead();
        std::string& body = request.body;
        body.reserve(size);
        body += part + "\"purpose\"\r\n\r\nbatch\r\n";
        body += part + "\"file\"; filename=\"" + what.mark +
                ".jsonl\"\r\nContent-Type: application/jsonl\r\n\r\n";
        for (const batch_call& each : what.calls) {
            body += R"({"custom_id":")";
            body += each.id;
            body += R"(","method":"POST","url":")";
            body += endpoint_;
            body += R"(","body":)";
            body += each.body;
            body += "}\n";
        }
        body += "\r\n--" + boundary + "--\r\n";
        return request;
    }

    result<std::string> read_upload(const json::object& root) const override {
        const std::string_view id = text_member(root, "id");
        if (!is_batch_name(id)) return reader_.protocol_error("the response names no file", id);
        return std::string(id);
    }

    batch_request create(const batch_submission& what, const std::string& file) const override {
        json_writer out;
        out.begin_object();
        out.key("input_file_id").string(file);
        out.key("endpoint").string(endpoint_);
        out.key("completion_window").string("24h");
        out.key("metadata").begin_object();
        out.key(mark_name).string(what.mark);
        out.end_object();
        out.end_object();
        return {"POST", prefix_ + "/batches", "application/json", std::move(out).take()};
    }
    batch_request poll(const std::string& id) const override {
        return {"GET", prefix_ + "/batches/" + id, {}, {}};
    }
    batch_request list(const std::string& next) const override {
        return {
            "GET", prefix_ + "/batches?limit=100" + (next.empty() ? "" : "&after=" + next), {}, {}};
    }
    batch_request cancel(const std::string& id) const override {
        return {"POST", prefix_ + "/batches/" + id + "/cancel", {}, {}};
    }
    std::vector<batch_request> results(const batch_status& of) const override {
        std::vector<batch_request> all;
        for (const std::string& file : of.files)
            all.push_back({"GET", prefix_ + "/files/" + file + "/content", {}, {}, true});
        return all;
    }

    result<batch_status> read_status(const json::object& root) const override {
        batch_status status;
        const std::string_view id = text_member(root, "id");
        if (!is_batch_name(id)) return reader_.protocol_error("the response names no batch", id);
        status.id = id;
        const std::string_view state = text_member(root, "status");
        if (state == "completed") status.state = batch_state::ended;
        else if (state == "failed") status.state = batch_state::refused;
        else if (state == "expired") status.state = batch_state::expired;
        else if (state == "cancelled") status.state = batch_state::cancelled;
        else if (state.empty()) return reader_.protocol_error("the response has no status");
        if (const json::object* counts = object_member(root, "request_counts")) {
            const auto total = static_cast<std::uint64_t>(tokens_member(*counts, "total"));
            if (total != 0) status.total = total; // zero until the file was read
            status.finished = static_cast<std::uint64_t>(tokens_member(*counts, "completed"));
            status.failed = static_cast<std::uint64_t>(tokens_member(*counts, "failed"));
        }
        if (const json::object* metadata = object_member(root, "metadata"))
            status.mark = text_member(*metadata, mark_name);
        const std::int64_t created = count_member(root, "created_at");
        if (created > 0) status.created = created;
        for (const char* name : {"output_file_id", "error_file_id"}) {
            const std::string_view file = text_member(root, name);
            if (file.empty()) continue;
            if (!is_batch_name(file))
                return reader_.protocol_error("the name of a file cannot be used", file);
            status.files.emplace_back(file);
        }
        status.has_results = !status.files.empty();
        read_problems(root, status);
        return status;
    }

    result<batch_page> read_page(const json::object& root) const override {
        batch_page page;
        HEDDLE_TRY(page.batches, read_statuses(*this, array_member(root, "data")));
        if (!is_true(root, "has_more")) return page;
        const std::string_view last = text_member(root, "last_id");
        if (is_batch_name(last)) page.next = last;
        else if (!page.batches.empty()) page.next = page.batches.back().id;
        return page;
    }

    result<batch_response> read_line(const json::object& line, wall_time wall_now) override {
        std::string id(text_member(line, "custom_id"));
        const json::object* response = object_member(line, "response");
        if (response) {
            const json::value* body = member(*response, "body");
            if (!body) return reader_.protocol_error("a result holds no body");
            const auto status = static_cast<int>(count_member(*response, "status_code"));
            return response_of(std::move(id), status, *body, codec_, wall_now);
        }
        const json::object* failed = object_member(line, "error");
        if (!failed) return reader_.protocol_error("a result is neither a response nor an error");
        const std::string_view code = text_member(*failed, "code");
        if (code == "batch_expired")
            return not_performed(std::move(id), batch_response::fate::expired,
                                 codec_.provider_name());
        if (code == "batch_cancelled")
            return not_performed(std::move(id), batch_response::fate::cancelled,
                                 codec_.provider_name());
        service_failure failure;
        failure.status = code == "request_timeout" ? 408 : 500;
        failure.code = code;
        failure.message = text_member(*failed, "message");
        return batch_response{std::move(id), batch_response::fate::failed,
                              reader_.service_error(failure)};
    }

private:
    void read_problems(const json::object& root, batch_status& status) const {
        constexpr std::size_t max_problems = 100;
        const json::object* errors = object_member(root, "errors");
        const json::array* list = errors ? array_member(*errors, "data") : nullptr;
        if (!list) return;
        for (const json::value& each : *list) {
            const json::object* one = each.if_object();
            if (!one || status.problems.size() == max_problems) continue;
            batch_problem problem;
            problem.code = presentable(text_member(*one, "code"), 64, reader_.options().hidden);
            problem.message =
                presentable(text_member(*one, "message"), 500, reader_.options().hidden);
            const std::int64_t line = count_member(*one, "line");
            if (line > 0) problem.call = static_cast<std::size_t>(line - 1);
            // The account has too much waiting; that passes.
            if (problem.code == "token_limit_exceeded") status.may_pass = true;
            status.problems.push_back(std::move(problem));
        }
    }

    std::string prefix_;
    std::string endpoint_;
    chat_codec& codec_;
    json_reader& reader_;
};

} // namespace

std::unique_ptr<batch_format> make_openai_format(std::string prefix, std::string_view path,
                                                 chat_codec& codec, json_reader& reader) {
    return std::make_unique<openai_format>(std::move(prefix), path, codec, reader);
}

} // namespace heddle::providers
