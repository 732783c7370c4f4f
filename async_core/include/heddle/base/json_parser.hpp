// JSON as the values of Boost.JSON, without a change of its numbers.
#pragma once

#include <boost/json/fwd.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <memory>
#include <string_view>

namespace heddle {

inline constexpr std::size_t usual_json_depth = 32; ///< that of Boost.JSON

/// Parses as boost::json::stream_parser does, but each float becomes the double nearest to its
/// digits. Boost.JSON 1.81 misses it by a bit or two for many floats of 16 or 17 digits, so that a
/// number changes between a text that is read and the one that is written. Linear.
class json_parser {
public:
    /// `memory`: of the value.
    explicit json_parser(std::size_t max_depth);
    json_parser(std::size_t max_depth, boost::json::storage_ptr memory);
    json_parser(const json_parser&) = delete;
    json_parser& operator=(const json_parser&) = delete;
    ~json_parser();

    /// Result: the bytes that were read, fewer than all if `failed` or if the value has ended.
    std::size_t write_some(std::string_view piece, boost::system::error_code& failed);
    /// Nothing follows.
    void finish(boost::system::error_code& failed);
    /// After finish(), unless that has failed; once.
    [[nodiscard]] boost::json::value release();

private:
    struct state;
    std::unique_ptr<state> state_;
};

/// As boost::json::parse, with the numbers of json_parser. Result: null if `failed`.
[[nodiscard]] boost::json::value parse_json(std::string_view text,
                                            boost::system::error_code& failed,
                                            std::size_t max_depth = usual_json_depth);

} // namespace heddle
