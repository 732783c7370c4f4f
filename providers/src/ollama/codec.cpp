#include "ollama/wire.hpp"

#include <utility>

namespace heddle::providers::ollama {

namespace {

using std::chrono::system_clock;

class codec final : public chat_codec {
public:
    explicit codec(codec_options options)
        : options_(std::move(options)),
          reader_({options_.name, &options_.api_key, options_.max_depth, options_.max_tool_calls}),
          target_(options_.prefix + "/api/chat") {
        headers_.push_back({"accept", "application/json", false});
        headers_.push_back({"content-type", "application/json", false}); // with the ping as well
        if (!options_.api_key.empty()) {
            headers_.push_back(
                {"authorization", "Bearer " + std::string(options_.api_key.reveal()), true});
        }
    }

    std::string_view provider_name() const noexcept override { return options_.name; }

    result<encoded_request> encode(const ports::chat_request& request, answer_mode mode) override {
        HEDDLE_TRY(std::string body, encode_body(request, mode, known_json_));
        return encoded_request{"POST", target_, headers_, std::move(body)};
    }

    result<ports::chat_response> decode(const ports::http_response& answer,
                                        system_clock::time_point wall_now) override {
        HEDDLE_TRY(const json::value tree, read_object(reader_, answer, wall_now, read_failure));
        const json::object& root = tree.get_object();
        if (!object_member(root, "message")) {
            return reader_.protocol_error("the answer holds no message");
        }
        collector collected(reader_);
        std::string text;
        HEDDLE_CHECK(collected.take(root, text));
        return collected.finish();
    }

    bool is_stream(const ports::http_response& head) const noexcept override {
        return is_success_of_type(head, "application/x-ndjson") ||
               is_success_of_type(head, "application/ndjson") ||
               is_success_of_type(head, "application/jsonl");
    }
    std::unique_ptr<chat_stream_reader> open_stream() override {
        return make_stream(reader_, options_.max_line);
    }

    /// The service has no limits of its own.
    rate_limit_headers read_limits(const ports::http_response&,
                                   system_clock::time_point) const override {
        return {};
    }

    encoded_request encode_ping() const override {
        return {"GET", options_.prefix + "/api/tags", headers_, {}};
    }
    result<std::vector<std::string>> decode_ping(const ports::http_response& answer,
                                                 system_clock::time_point wall_now) override {
        HEDDLE_TRY(const json::value tree, read_object(reader_, answer, wall_now, read_failure));
        return read_names(reader_, tree.get_object(), "models", "name");
    }

private:
    codec_options options_;
    json_reader reader_;
    json_memo known_json_;
    std::vector<ports::http_header> headers_;
    std::string target_;
};

} // namespace

std::unique_ptr<chat_codec> make_codec(codec_options options) {
    return std::make_unique<codec>(std::move(options));
}

} // namespace heddle::providers::ollama
