// What the formats of several services have in common.
#pragma once

#include "common/json_writer.hpp"
#include "scripted/formats/served_format.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::scripted {

/// What is wrong with a request, for a 400.
[[nodiscard]] inline error wrong(std::string what) {
    return error(errc::invalid_argument, std::move(what));
}

/// The body of a request, which must be a JSON object.
[[nodiscard]] inline result<json::value> parse_request(json_reader& reader, std::string_view body) {
    HEDDLE_TRY(json::value tree, reader.parse(body));
    if (!tree.is_object()) return wrong("the body is not a JSON object");
    return tree;
}

/// Appends what `write` writes with the json_writer that it is called with.
template <class Write>
void append_json(std::string& out, Write write) {
    json_writer body(std::exchange(out, {}));
    write(body);
    out = std::move(body).take();
}

/// Appends {"<key>":[…]} with what `write_one` writes for each name.
template <class WriteOne>
void append_json_list(std::string& out, std::string_view key, const std::vector<std::string>& names,
                      WriteOne write_one) {
    append_json(out, [&](json_writer& body) {
        body.begin_object();
        body.key(key).begin_array();
        for (const std::string& name : names) write_one(body, name);
        body.end_array();
        body.end_object();
    });
}

} // namespace heddle::scripted
