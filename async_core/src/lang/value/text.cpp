#include <heddle/lang/text.hpp>

#include <heddle/base/utf8.hpp>
#include <heddle/lang/objects.hpp>

#include <algorithm>
#include <cassert>

namespace heddle::lang {

namespace {

[[nodiscard]] string_object* storage_of(const value& string) noexcept {
    return static_cast<string_object*>(string.target());
}

[[nodiscard]] string_object* make_storage(heap& memory, std::size_t capacity) {
    auto* result = static_cast<string_object*>(
        memory.allocate(kind::string, sizeof(string_object) + capacity));
    result->capacity = static_cast<std::uint32_t>(capacity);
    result->used = 0;
    result->ascii = true;
    return result;
}

void append(string_object* storage, std::string_view text) noexcept {
    std::memcpy(storage->data() + storage->used, text.data(), text.size());
    storage->used += static_cast<std::uint32_t>(text.size());
    storage->ascii = storage->ascii && utf8::is_ascii(text);
}

} // namespace

value make_string(heap& memory, std::string_view text) {
    if (utf8::is_valid(text)) return make_valid_string(memory, text);
    std::string valid;
    utf8::append_valid(valid, text);
    utf8::shorten(valid, value::max_length - 1); // a replacement is longer than what it replaces
    return make_valid_string(memory, valid);
}

value make_valid_string(heap& memory, std::string_view text) {
    assert(utf8::is_valid(text));
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

value make_string_with_capacity(heap& memory, std::size_t bytes) {
    if (bytes == 0) return value::empty_string();
    return value::adopt(kind::string, make_storage(memory, bytes), 0, 0);
}

bool string_grows_in_place(const value& string, std::size_t bytes) noexcept {
    const string_object* storage = storage_of(string);
    return storage && string.offset() + string.length() == storage->used &&
           storage->capacity - storage->used >= bytes && !storage->owner->is_frozen();
}

value string_concat(heap& memory, value left, std::string_view right) {
    assert(utf8::is_valid(right));
    if (right.empty()) return left;
    string_object* storage = storage_of(left);
    if (!storage) return make_valid_string(memory, right);
    const std::size_t offset = left.offset();
    const std::size_t length = left.length();
    if (string_grows_in_place(left, right.size())) {
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
    return utf8::count(string_bytes(string));
}

value string_window(const value& string, std::size_t begin, std::size_t end) {
    if (begin >= end) return value::empty_string();
    // What is small does not keep what is large alive. What is frozen stays in any case.
    constexpr std::size_t small = 1024;
    string_object* storage = storage_of(string);
    if (end - begin <= small && (end - begin) * 8 < storage->capacity &&
        !storage->owner->is_frozen())
        return make_valid_string(*storage->owner, string_bytes(string).substr(begin, end - begin));
    return string.window(string.offset() + begin, end - begin);
}

std::string_view symbol_name(const value& symbol) noexcept {
    return static_cast<const symbol_object*>(symbol.target())->name();
}

} // namespace heddle::lang
