#include "common/json_tree_parser.hpp"

#include "common/bounded_memory.hpp"

#include <heddle/base/number_text.hpp>

#include <boost/json/basic_parser_impl.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <memory_resource>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace heddle::providers {

namespace {

namespace json = boost::json;
using boost::system::error_code;
using json_tree::key_value;
using json_tree::value;

/// What a tree may take. Of two bytes ("0,") an element takes some fifty, and a text may have
/// millions of these.
constexpr std::size_t usual_tree_bytes = 64 * 1024 * 1024;
constexpr std::size_t max_bytes_for_each = 5;
constexpr std::size_t kept_places = 256;      ///< of the stack, from one text to the next
constexpr std::size_t kept_bytes = 64 * 1024; ///< of a string with escapes

json::parse_options options_for(std::size_t max_depth, json_tree_parser::wrong_bytes bytes) {
    json::parse_options options;
    options.max_depth = max_depth;
    options.allow_invalid_utf8 = bytes == json_tree_parser::wrong_bytes::kept;
    return options;
}

/// Puts a tree together from what the parser reports. The children of what is open are on a stack;
/// at its end they move to one block, which the parent refers to.
class tree_builder {
public:
    void begin(std::string_view text) {
        text_ = text;
        if (open_.capacity() > kept_places) std::pmr::vector<key_value>(&memory_).swap(open_);
        open_.clear();
        names_next_ = false;
        if (pending_.capacity() > kept_bytes) std::string().swap(pending_);
        pending_.clear();
        // release() would keep the size of the next block, which doubles with every block.
        blocks_.emplace(first_block_.data(), first_block_.size(), &memory_);
        memory_.allow(usual_tree_bytes + max_bytes_for_each * text.size());
    }
    [[nodiscard]] value root() const noexcept { return open_.front().item; }
    [[nodiscard]] bool is_too_big() const noexcept { return memory_.refused(); }

    void add(value given) {
        if (names_next_) open_.back().item = given;
        else open_.push_back({{}, given});
        names_next_ = false;
    }
    void name(std::string_view key) {
        open_.push_back({key, {}});
        names_next_ = true;
    }
    /// Begins an array or an object, whose place comes before its children.
    void open() { add({}); }
    void close_array(std::size_t count) {
        auto* const block = make_block<value>(count);
        const key_value* const first = open_.data() + (open_.size() - count);
        for (std::size_t i = 0; i < count; ++i) new (block + i) value(first[i].item);
        close(count, value(json_tree::array(block, count)));
    }
    void close_object(std::size_t count) {
        auto* const block = make_block<key_value>(count);
        std::uninitialized_copy(open_.end() - static_cast<std::ptrdiff_t>(count), open_.end(),
                                block);
        close(count, value(json_tree::object(block, count)));
    }

    void add_piece(std::string_view piece) { pending_ += piece; }
    /// The string that ends with `last`, whose bytes are in the text or copied out of it.
    [[nodiscard]] std::string_view end_string(std::string_view last) {
        if (pending_.empty() && is_in_text(last)) return last;
        pending_ += last;
        char* const block = make_block<char>(pending_.size());
        std::copy(pending_.begin(), pending_.end(), block);
        const std::string_view whole(block, pending_.size());
        pending_.clear();
        return whole;
    }

private:
    template <class T>
    [[nodiscard]] T* make_block(std::size_t count) {
        return static_cast<T*>(blocks_->allocate(count * sizeof(T), alignof(T)));
    }
    void close(std::size_t count, value closed) noexcept {
        open_.resize(open_.size() - count);
        open_.back().item = closed;
    }
    [[nodiscard]] bool is_in_text(std::string_view piece) const noexcept {
        const std::less_equal<> before;
        return before(text_.data(), piece.data()) &&
               before(piece.data() + piece.size(), text_.data() + text_.size());
    }

    bounded_memory memory_; // of what does not fit into the first block
    alignas(std::max_align_t) std::array<std::byte, 16 * 1024> first_block_;
    std::optional<std::pmr::monotonic_buffer_resource> blocks_; // made anew for each text
    std::pmr::vector<key_value> open_{&memory_};
    std::string pending_; // a string so far, of which some bytes are not those of the text
    std::string_view text_;
    bool names_next_ = false; // the last place has a name and no value yet
};

/// What Boost.JSON asks of a receiver; the names are its.
struct receiver {
    static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

    using text = json::string_view;

    bool on_document_begin(error_code& /*failed*/) { return true; }
    bool on_document_end(error_code& /*failed*/) { return true; }
    bool on_array_begin(error_code& /*failed*/) { return to->open(), true; }
    bool on_array_end(std::size_t n, error_code& /*failed*/) { return to->close_array(n), true; }
    bool on_object_begin(error_code& /*failed*/) { return to->open(), true; }
    bool on_object_end(std::size_t n, error_code& /*failed*/) { return to->close_object(n), true; }
    bool on_string_part(text piece, std::size_t /*n*/, error_code& /*failed*/) {
        return to->add_piece(piece), true;
    }
    bool on_string(text last, std::size_t /*n*/, error_code& /*failed*/) {
        return to->add(value(to->end_string(last))), true;
    }
    bool on_key_part(text piece, std::size_t /*n*/, error_code& /*failed*/) {
        return to->add_piece(piece), true;
    }
    bool on_key(text last, std::size_t /*n*/, error_code& /*failed*/) {
        return to->name(to->end_string(last)), true;
    }
    bool on_number_part(text /*piece*/, error_code& /*failed*/) { return true; }
    bool on_int64(std::int64_t number, text /*piece*/, error_code& /*failed*/) {
        return to->add(value(number)), true;
    }
    bool on_uint64(std::uint64_t number, text /*piece*/, error_code& /*failed*/) {
        return to->add(value(number)), true;
    }
    bool on_double(double /*about*/, text digits, error_code& /*failed*/) {
        return to->add(value(parse_decimal(digits))), true; // the parser may miss the nearest
    }
    bool on_bool(bool given, error_code& /*failed*/) { return to->add(value(given)), true; }
    bool on_null(error_code& /*failed*/) { return to->add({}), true; }
    bool on_comment_part(text /*piece*/, error_code& /*failed*/) { return true; }
    bool on_comment(text /*piece*/, error_code& /*failed*/) { return true; }

    tree_builder* to;
};

using event_parser = json::basic_parser<receiver>;

} // namespace

struct json_tree_parser::state {
    explicit state(std::size_t depth)
        : max_depth(depth), strict(options_for(depth, wrong_bytes::refused), receiver{&builder}) {}

    value read(event_parser& parser, std::string_view text, error_code& failed) {
        builder.begin(text);
        parser.reset();
        failed = {};
        try {
            const std::size_t taken = parser.write_some(false, text.data(), text.size(), failed);
            if (!failed && taken < text.size()) failed = json::error::extra_data;
        } catch (const std::bad_alloc&) {
            if (!builder.is_too_big()) throw;
            failed = make_error_code(boost::system::errc::not_enough_memory);
        }
        return failed ? value() : builder.root();
    }

    std::size_t max_depth;
    tree_builder builder;
    event_parser strict;
};

json_tree_parser::json_tree_parser(std::size_t max_depth)
    : state_(std::make_unique<state>(max_depth)) {}

json_tree_parser::~json_tree_parser() = default;

json_tree::value json_tree_parser::parse(std::string_view text, wrong_bytes bytes,
                                         error_code& failed) {
    if (bytes == wrong_bytes::refused) return state_->read(state_->strict, text, failed);
    event_parser lenient(options_for(state_->max_depth, bytes), receiver{&state_->builder});
    return state_->read(lenient, text, failed);
}

bool json_tree_parser::is_too_big() const noexcept { return state_->builder.is_too_big(); }

} // namespace heddle::providers
