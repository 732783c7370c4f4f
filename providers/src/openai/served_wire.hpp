// The server's side of Chat Completions: requests from bytes, answers to bytes. No I/O.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/llm_port.hpp>

#include "openai/chat_json.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::providers::openai {

struct served_request {
    ports::chat_request chat; ///< model and messages; what no rule looks at is left out
    bool stream = false;
    bool include_usage = false;
};

/// Reads the body of a request. Errors: what is wrong with it, for a 400.
[[nodiscard]] result<served_request> decode_request(json_reader& reader, std::string_view body);

/// Appends the body of a whole answer. `created` is in seconds since 1970.
void append_answer(std::string& out, const ports::chat_response& answer, std::int64_t created);

/// Appends an error in OpenAI's shape.
void append_error(std::string& out, std::string_view message, std::string_view type,
                  std::string_view code);

/// Appends the list of models.
void append_models(std::string& out, const std::vector<std::string>& names);
void append_model(std::string& out, std::string_view name);

/// Makes the events of a streamed answer, one after the other.
class answer_events {
public:
    /// `pieces` are those of the text, or of the refusal if there is one. They and `answer` outlive
    /// this.
    answer_events(const ports::chat_response& answer, const std::vector<std::string_view>& pieces,
                  std::int64_t created, bool include_usage);

    /// Appends the next event with the blank line after it. False: there was none left.
    [[nodiscard]] bool next(std::string& out);
    /// True while the next event is a piece of text: where a slow model would take its time.
    [[nodiscard]] bool at_piece() const noexcept { return stage_ == stage::pieces; }

private:
    enum class stage : std::uint8_t { begin, pieces, calls, end, usage, done, over };
    void begin_chunk(std::string& out) const;
    void append_delta(std::string& out) const;
    void go_on() noexcept;

    const ports::chat_response& answer_;
    const std::vector<std::string_view>& pieces_;
    std::string head_; // what all chunks begin with
    bool include_usage_ = false;
    stage stage_ = stage::begin;
    std::size_t next_ = 0;
};

} // namespace heddle::providers::openai
