// What must hold wherever bytes become text: strings of the language, responses of services and
// messages are valid UTF-8, whatever came.
#pragma once

#include <heddle/lang/builtin.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/providers/common/chat_codec.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::fuzzing {

/// Hands bytes through one boundary. The first byte chooses which.
class text_boundary_check {
public:
    text_boundary_check();

    /// What does not hold; empty when all is well.
    [[nodiscard]] std::string run(std::span<const std::uint8_t> input);
    [[nodiscard]] static std::size_t boundaries() noexcept;

    std::uint64_t values = 0; ///< strings of the language that were looked at
    std::uint64_t errors = 0;

private:
    class input;

    void check_helpers(input& from);
    void check_builtin(input& from);
    void check_json(input& from);
    void check_reader(input& from);
    void check_response(input& from);
    void check_stream(input& from);
    void check_parsers(input& from);
    void check_prompt(input& from);
    void check_content(input& from);
    void check_results(input& from);

    void text(std::string_view what, std::string_view bytes);
    void failure(std::string_view what, const error& failed);
    void value(std::string_view what, const lang::value& result);
    void response(std::string_view what, const ports::chat_response& chat);
    [[nodiscard]] lang::value argument(input& from);

    lang::heap_owner memory_;
    std::vector<std::unique_ptr<providers::chat_codec>> codecs_;
    std::vector<const lang::builtin*> builtins_;
    std::string problem_;
};

} // namespace heddle::fuzzing
