#include <heddle/ports/response_codec.hpp>

#include <heddle/base/keyed_hash.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>

namespace heddle::ports {

namespace {

constexpr char version = 1;
constexpr std::size_t max_items = 100'000; ///< of one list

/// Writes and reads the members of a response in one order, defined once (see members below).
class writer {
public:
    explicit writer(std::string& to) : to_(to) {}

    bool operator()(const std::string& text) {
        put(text.size());
        to_ += text;
        return true;
    }
    template <class T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
    bool operator()(const T& number) {
        put(static_cast<std::uint64_t>(number));
        return true;
    }
    template <class T>
    bool operator()(const std::optional<T>& maybe) {
        to_ += maybe ? '\1' : '\0';
        return !maybe || members(*this, *maybe);
    }
    template <class T>
    bool operator()(const std::vector<T>& items) {
        put(items.size());
        for (const T& each : items) members(*this, each);
        return true;
    }

private:
    void put(std::uint64_t number) {
        for (int k = 0; k < 8; ++k) to_ += static_cast<char>(number >> (8 * k) & 0xFF);
    }
    std::string& to_;
};

class reader {
public:
    explicit reader(std::string_view from) : from_(from) {}
    [[nodiscard]] bool at_end() const noexcept { return from_.empty(); }

    bool operator()(std::string& text) {
        std::uint64_t size = 0;
        if (!take(size) || size > from_.size()) return false;
        text.assign(from_.substr(0, size));
        from_.remove_prefix(size);
        return true;
    }
    template <class T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
    bool operator()(T& number) {
        std::uint64_t bits = 0;
        if (!take(bits)) return false;
        number = static_cast<T>(bits);
        return true;
    }
    template <class T>
    bool operator()(std::optional<T>& maybe) {
        if (from_.empty()) return false;
        const bool there = from_.front() == '\1';
        from_.remove_prefix(1);
        return !there || members(*this, maybe.emplace());
    }
    template <class T>
    bool operator()(std::vector<T>& items) {
        std::uint64_t count = 0;
        if (!take(count) || count > max_items || count > from_.size()) return false;
        items.resize(count);
        for (T& each : items) {
            if (!members(*this, each)) return false;
        }
        return true;
    }

private:
    bool take(std::uint64_t& number) {
        if (from_.size() < 8) return false;
        number = 0;
        for (unsigned k = 0; k < 8; ++k)
            number |= std::uint64_t{static_cast<unsigned char>(from_[k])} << (8 * k);
        from_.remove_prefix(8);
        return true;
    }
    std::string_view from_;
};

/// Calls `each` for some members, until it fails.
template <class Visitor, class... Members>
bool all(Visitor& each, Members&... of) {
    return (each(of) && ...);
}

template <class V, class T>
concept is_a = std::is_same_v<std::remove_const_t<V>, T>;

template <class Visitor, is_a<std::string> T>
bool members(Visitor& each, T& m) {
    return each(m);
}
template <class Visitor, is_a<tool_call> T>
bool members(Visitor& each, T& m) {
    return all(each, m.id, m.name, m.arguments_json, m.signature);
}
template <class Visitor, is_a<reasoning_part> T>
bool members(Visitor& each, T& m) {
    return all(each, m.text, m.signature, m.opaque);
}
template <class Visitor, is_a<token_usage> T>
bool members(Visitor& each, T& m) {
    return all(each, m.input, m.output, m.cached, m.cache_written, m.reasoning, m.input_reported,
               m.output_reported, m.of_cache);
}
template <class Visitor, is_a<lost_request> T>
bool members(Visitor& each, T& m) {
    return all(each, m.provider, m.model, m.usage, m.received, m.asked_model);
}
template <class Visitor, is_a<chat_response> T>
bool members(Visitor& each, T& m) {
    return all(each, m.id, m.model, m.text, m.refusal, m.tool_calls, m.reasoning, m.finish, m.usage,
               m.attempts, m.lost, m.provider, m.asked_model, m.cut_tool_call, m.warnings);
}
template <class Visitor, is_a<chat_message> T>
bool members(Visitor& each, T& m) {
    return all(each, m.role, m.text, m.tool_calls, m.tool_call_id, m.tool_name, m.tool_failed,
               m.reasoning, m.written_by);
}
template <class Visitor, is_a<tool_spec> T>
bool members(Visitor& each, T& m) {
    return all(each, m.name, m.description, m.parameters_json, m.strict);
}
template <class Visitor, is_a<extra_parameter> T>
bool members(Visitor& each, T& m) {
    return all(each, m.name, m.value_json);
}

void append(std::string& text, const std::optional<double>& number) {
    writer to(text);
    to(number ? std::bit_cast<std::uint64_t>(*number) : ~std::uint64_t{0});
}

void append(std::string& text, const std::optional<std::int64_t>& number) {
    text += number ? '\1' : '\0';
    writer to(text);
    to(number.value_or(0));
}

} // namespace

digest128 digest_of(const chat_request& request, std::string_view provider) {
    std::string text;
    text.reserve(1024);
    writer to(text);
    to(std::string(provider));
    all(to, request.model, request.messages, request.stop, request.tools, request.tool_choice,
        request.reasoning_effort, request.extra, request.format.type, request.format.schema_name,
        request.format.schema_json, request.format.strict);
    append(text, request.temperature);
    append(text, request.top_p);
    append(text, request.max_output_tokens);
    append(text, request.seed);
    append(text, request.reasoning_tokens);
    to(request.parallel_tool_calls ? 1 + int{*request.parallel_tool_calls} : 0);
    return {hash_text({0xA0761D6478BD642FULL, 0xE7037ED1A0B428DBULL}, text),
            hash_text({0x8EBC6AF09C88C6E3ULL, 0x589965CC75374CC3ULL}, text)};
}

std::string encode_response(const chat_response& response) {
    std::string bytes(1, version);
    writer to(bytes);
    members(to, response);
    return bytes;
}

result<chat_response> decode_response(std::string_view bytes) {
    chat_response response;
    if (!bytes.empty() && bytes.front() == version) {
        reader from(bytes.substr(1));
        if (members(from, response) && from.at_end()) return response;
    }
    return error(errc::io_error, "the journal holds a response that cannot be read")
        .with_hint("it may be damaged, or written by another version of heddle");
}

} // namespace heddle::ports
