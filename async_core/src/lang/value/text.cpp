#include <heddle/lang/text.hpp>

#include <heddle/lang/objects.hpp>

#include <algorithm>

namespace heddle::lang {

namespace {

[[nodiscard]] bool is_ascii(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

[[nodiscard]] string_object* storage_of(const value& string) noexcept {
    return static_cast<string_object*>(string.target());
}

[[nodiscard]] string_object* make_storage(heap& memory, std::size_t capacity) {
    auto* made = static_cast<string_object*>(
        memory.allocate(kind::string, sizeof(string_object) + capacity));
    made->capacity = static_cast<std::uint32_t>(capacity);
    made->used = 0;
    made->ascii = true;
    return made;
}

void append(string_object* storage, std::string_view text) noexcept {
    std::memcpy(storage->data() + storage->used, text.data(), text.size());
    storage->used += static_cast<std::uint32_t>(text.size());
    storage->ascii = storage->ascii && is_ascii(text);
}

/// Byte offset of code point `n`.
[[nodiscard]] std::size_t byte_offset(std::string_view text, std::size_t n) noexcept {
    std::size_t at = 0;
    while (n != 0 && at < text.size()) {
        ++at;
        while (at < text.size() && (text[at] & 0xC0) == 0x80) ++at;
        --n;
    }
    return at;
}

} // namespace

value make_string(heap& memory, std::string_view text) {
    if (text.empty()) return value::empty_string();
    string_object* storage = make_storage(memory, text.size());
    append(storage, text);
    return value::adopt(kind::string, storage, 0, text.size());
}

std::string_view string_bytes(const value& string) noexcept {
    const string_object* storage = storage_of(string);
    return storage ? std::string_view(storage->data() + string.offset(), string.length())
                   : std::string_view();
}

value string_concat(heap& memory, value left, std::string_view right) {
    if (right.empty()) return left;
    string_object* storage = storage_of(left);
    if (!storage) return make_string(memory, right);
    const std::size_t offset = left.offset();
    const std::size_t length = left.length();
    if (offset + length == storage->used && storage->capacity - storage->used >= right.size()) {
        append(storage, right); // `right` may lie in the same storage: bytes before `used` stay put
        return std::move(left).window(offset, length + right.size());
    }
    string_object* grown =
        make_storage(memory, std::max<std::size_t>(40, (length + right.size()) * 2));
    append(grown, string_bytes(left));
    append(grown, right);
    return value::adopt(kind::string, grown, 0, length + right.size());
}

std::size_t string_length(const value& string) noexcept {
    const string_object* storage = storage_of(string);
    if (!storage || storage->ascii) return string.length();
    const std::string_view text = string_bytes(string);
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

value string_slice(const value& string, std::size_t from, std::size_t to) noexcept {
    if (from >= to) return value::empty_string();
    const string_object* storage = storage_of(string);
    std::size_t begin = from;
    std::size_t end = to;
    if (!storage->ascii) {
        const std::string_view text = string_bytes(string);
        begin = byte_offset(text, from);
        end = begin + byte_offset(text.substr(begin), to - from);
    }
    return string.window(string.offset() + begin, end - begin);
}

std::string_view symbol_name(const value& symbol) noexcept {
    return static_cast<const symbol_object*>(symbol.target())->name();
}

std::size_t find_invalid_utf8(std::string_view text) noexcept {
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    const std::size_t size = text.size();
    std::size_t i = 0;
    const auto continuation = [&](std::size_t at) {
        return at < size && (bytes[at] & 0xC0) == 0x80;
    };
    while (i < size) {
        const unsigned char lead = bytes[i];
        if (lead < 0x80) {
            ++i;
        } else if (lead >= 0xC2 && lead <= 0xDF) {
            if (!continuation(i + 1)) return i;
            i += 2;
        } else if (lead >= 0xE0 && lead <= 0xEF) {
            if (!continuation(i + 1) || !continuation(i + 2)) return i;
            if (lead == 0xE0 && bytes[i + 1] < 0xA0) return i; // overlong
            if (lead == 0xED && bytes[i + 1] > 0x9F) return i; // surrogate
            i += 3;
        } else if (lead >= 0xF0 && lead <= 0xF4) {
            if (!continuation(i + 1) || !continuation(i + 2) || !continuation(i + 3)) return i;
            if (lead == 0xF0 && bytes[i + 1] < 0x90) return i;
            if (lead == 0xF4 && bytes[i + 1] > 0x8F) return i;
            i += 4;
        } else {
            return i;
        }
    }
    return std::string_view::npos;
}

bool is_valid_utf8(std::string_view text) noexcept {
    return find_invalid_utf8(text) == std::string_view::npos;
}

} // namespace heddle::lang
