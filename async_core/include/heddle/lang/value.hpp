// The 16-byte value that programs operate on.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace heddle::lang {

class heap;
struct object;
struct builtin;

/// What a value or an object is. `unbound` and `cell` never reach a program; no value is `code`.
enum class kind : std::uint8_t {
    unbound = 0,
    nil,
    boolean,
    integer,
    real,
    string,
    symbol,
    list,
    map,
    closure,
    builtin,
    host, ///< an object of the host: task, tool, future, semaphore, join
    cell, ///< a captured variable that is assigned
    code  ///< a function, as the collector of cycles sees it
};

/// Immutable, 16 bytes, reference counted without atomics: a value belongs to the thread (shard) of
/// its heap. Lists, strings and maps are a window (offset, length) on storage that older and newer
/// versions share: `rest` allocates nothing, and consing or appending in a loop is linear, because
/// the version that owns the edge of the storage writes beyond it in place (the ownership rule of
/// Go's slices, made safe by immutability).
///
/// Layout: `meta` is tag (8 bits: kind, and bit 7 when the payload is an object), offset (28),
/// length (28). Moving is a memcpy (trivially relocatable): the machine relies on it.
class value {
public:
    static constexpr std::uint64_t heap_bit = 0x80;
    static constexpr std::uint64_t kind_mask = 0x1F;
    static constexpr std::uint64_t max_length = (std::uint64_t{1} << 28) - 1;

    value() noexcept : meta_(static_cast<std::uint64_t>(kind::nil)), payload_{} {}
    value(const value& other) noexcept : meta_(other.meta_), payload_(other.payload_) { retain(); }
    value(value&& other) noexcept : meta_(other.meta_), payload_(other.payload_) { other.forget(); }
    value& operator=(const value& other) noexcept {
        value copy(other);
        swap(copy);
        return *this;
    }
    value& operator=(value&& other) noexcept {
        value moved(std::move(other));
        swap(moved);
        return *this;
    }
    ~value() { release(); }

    [[nodiscard]] static value boolean(bool b) noexcept {
        return immediate(kind::boolean, b ? 1 : 0);
    }
    [[nodiscard]] static value integer(std::int64_t i) noexcept {
        return immediate(kind::integer, i);
    }
    [[nodiscard]] static value real(double d) noexcept {
        value v;
        v.meta_ = static_cast<std::uint64_t>(kind::real);
        v.payload_.real = d;
        return v;
    }
    [[nodiscard]] static value empty_list() noexcept { return immediate(kind::list, 0); }
    [[nodiscard]] static value empty_string() noexcept { return immediate(kind::string, 0); }
    [[nodiscard]] static value empty_map() noexcept { return immediate(kind::map, 0); }
    [[nodiscard]] static value unbound() noexcept { return immediate(kind::unbound, 0); }
    [[nodiscard]] static value of_builtin(const builtin& row) noexcept {
        value v;
        v.meta_ = static_cast<std::uint64_t>(kind::builtin);
        v.payload_.row = &row;
        return v;
    }
    /// Takes over one reference to `target`.
    [[nodiscard]] static value adopt(kind k, object* target, std::uint64_t offset = 0,
                                     std::uint64_t length = 0) noexcept {
        value v;
        v.meta_ = static_cast<std::uint64_t>(k) | heap_bit | offset << 8 | length << 36;
        v.payload_.target = target;
        return v;
    }

    [[nodiscard]] kind type() const noexcept { return static_cast<kind>(meta_ & kind_mask); }
    [[nodiscard]] bool is(kind k) const noexcept { return type() == k; }
    [[nodiscard]] bool is_nil() const noexcept {
        return meta_ == static_cast<std::uint64_t>(kind::nil);
    }
    [[nodiscard]] bool is_unbound() const noexcept { return meta_ == 0; }
    [[nodiscard]] bool is_integer() const noexcept {
        return meta_ == static_cast<std::uint64_t>(kind::integer);
    }
    [[nodiscard]] bool is_real() const noexcept {
        return meta_ == static_cast<std::uint64_t>(kind::real);
    }
    [[nodiscard]] bool is_boolean() const noexcept {
        return meta_ == static_cast<std::uint64_t>(kind::boolean);
    }
    [[nodiscard]] bool is_object() const noexcept { return (meta_ & heap_bit) != 0; }

    [[nodiscard]] std::int64_t as_integer() const noexcept { return payload_.integer; }
    [[nodiscard]] double as_real() const noexcept { return payload_.real; }
    [[nodiscard]] bool as_boolean() const noexcept { return payload_.integer != 0; }
    [[nodiscard]] const builtin& as_builtin() const noexcept { return *payload_.row; }
    /// Null for immediates and for empty lists, strings and maps.
    [[nodiscard]] object* target() const noexcept {
        return is_object() ? payload_.target : nullptr;
    }
    [[nodiscard]] std::uint32_t offset() const noexcept { return meta_ >> 8 & max_length; }
    [[nodiscard]] std::uint32_t length() const noexcept {
        return static_cast<std::uint32_t>(meta_ >> 36);
    }

    /// False for nil, false, 0, 0.0, "", () and the empty map (docs/spec/language.md §2).
    [[nodiscard]] bool truthy() const noexcept {
        switch (type()) {
        case kind::nil:
        case kind::unbound: return false;
        case kind::boolean:
        case kind::integer: return payload_.integer != 0;
        case kind::real: return payload_.real != 0.0;
        case kind::string:
        case kind::list:
        case kind::map: return length() != 0;
        default: return true;
        }
    }

    void swap(value& other) noexcept {
        std::swap(meta_, other.meta_);
        std::swap(payload_, other.payload_);
    }

    /// Another window on the same storage (lists and strings).
    [[nodiscard]] value window(std::uint64_t offset, std::uint64_t length) const& noexcept {
        value v(*this);
        v.meta_ = (meta_ & 0xFF) | offset << 8 | length << 36;
        return v;
    }
    [[nodiscard]] value window(std::uint64_t offset, std::uint64_t length) && noexcept {
        meta_ = (meta_ & 0xFF) | offset << 8 | length << 36;
        return std::move(*this);
    }

    /// Same bits: the same immediate, or the same window on the same object.
    [[nodiscard]] bool identical(const value& other) const noexcept {
        return meta_ == other.meta_ && payload_.integer == other.payload_.integer;
    }

    /// For the machine's hot paths: stores an integer over an arbitrary old value.
    void set_integer(std::int64_t i) noexcept {
        release();
        meta_ = static_cast<std::uint64_t>(kind::integer);
        payload_.integer = i;
    }
    void set_nil() noexcept {
        release();
        forget();
    }

private:
    union payload {
        std::int64_t integer;
        double real;
        object* target;
        const lang::builtin* row;
    };

    [[nodiscard]] static value immediate(kind k, std::int64_t i) noexcept {
        value v;
        v.meta_ = static_cast<std::uint64_t>(k);
        v.payload_.integer = i;
        return v;
    }
    inline void retain() const noexcept;
    inline void release() noexcept;
    void forget() noexcept { meta_ = static_cast<std::uint64_t>(kind::nil); }

    std::uint64_t meta_;
    payload payload_;
};

static_assert(sizeof(value) == 16);

/// Header of everything that is allocated in a heap.
struct object {
    std::uint32_t references;
    kind type;
    std::uint8_t colour;      ///< marks of the collector of cycles
    std::uint16_t size_class; ///< 0: a large block of its own
    heap* owner;

    static constexpr std::uint8_t grown = 1; ///< a cycle may end here, see heap::note_growth
    static constexpr std::uint8_t searched =
        2; ///< the search under way must be notified of its death
};

/// Out of line: the last reference is gone.
void destroy_object(object* target) noexcept;

inline void value::retain() const noexcept {
    if (is_object()) ++payload_.target->references;
}
inline void value::release() noexcept {
    if (is_object() && --payload_.target->references == 0) destroy_object(payload_.target);
}

/// The user's name of a kind, as `type-of` returns it.
[[nodiscard]] std::string_view kind_name(kind k) noexcept;

} // namespace heddle::lang
