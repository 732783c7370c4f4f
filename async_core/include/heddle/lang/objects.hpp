// The objects that values point to. For the sources of the language; hosts use text.hpp, list.hpp
// and map.hpp.
#pragma once

#include <heddle/base/source.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/lang/value.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace heddle::lang {

struct string_object : object {
    std::uint32_t capacity;
    std::uint32_t used; ///< bytes written so far; a window that ends here may grow in place
    bool ascii;         ///< every byte so far is below 0x80: code points are bytes
    [[nodiscard]] char* data() noexcept { return reinterpret_cast<char*>(this + 1); }
    [[nodiscard]] const char* data() const noexcept {
        return reinterpret_cast<const char*>(this + 1);
    }
};

struct symbol_object : object {
    std::uint32_t length;
    bool interned;
    std::uint32_t hash;   ///< of an interned one: of its name
    symbol_object* chain; ///< of an interned one: for heap::symbols_
    [[nodiscard]] std::string_view name() const noexcept {
        return {reinterpret_cast<const char*>(this + 1), length};
    }
};

/// Source positions of the elements of a list that was read (parallel to the storage), so that
/// macros and quoted code keep them.
struct list_places {
    source_span whole;
    std::size_t count; ///< of elements
    std::unique_ptr<source_span[]> elements;
    [[nodiscard]] static std::size_t bytes_for(std::size_t count) noexcept {
        return sizeof(list_places) + count * sizeof(source_span);
    }
};

struct list_object : object {
    std::uint32_t capacity;
    std::uint32_t begin; ///< first slot in use: a window that starts here may grow downwards
    std::uint32_t end;   ///< one past the last slot in use
    list_places* places; ///< owned; null unless read from source
    /// Whether elements may be written beside those that a window sees. The storage of a frozen
    /// heap is shared by sessions, whose values must not get there.
    [[nodiscard]] bool is_writable() const noexcept {
        return places == nullptr && !owner->is_frozen();
    }
    /// Whether a window that starts at `offset` may grow downwards in place.
    [[nodiscard]] bool takes_before(std::uint32_t offset) const noexcept {
        return offset == begin && begin != 0 && is_writable();
    }
    /// Whether so few elements are left that a copy of them is better than keeping this storage
    /// alive. The copy is small itself, so a loop that takes one element after the other copies
    /// twice.
    [[nodiscard]] bool outweighs(std::size_t left) const noexcept {
        return left <= 16 && left * 8 < capacity && places == nullptr;
    }
    [[nodiscard]] value* items() noexcept { return reinterpret_cast<value*>(this + 1); }
    [[nodiscard]] const value* items() const noexcept {
        return reinterpret_cast<const value*>(this + 1);
    }
};

struct map_entry {
    value key; ///< a string
    value item;
    std::size_t hash;
};

/// Entries in order of insertion; a value sees the first length() of them.
struct map_object : object {
    std::uint32_t capacity;
    std::uint32_t used;
    std::uint32_t*
        index; ///< open addressing, twice the capacity, 0 = free, else entry + 1; null when small;
               ///< std::free() frees it
    [[nodiscard]] map_entry* entries() noexcept { return reinterpret_cast<map_entry*>(this + 1); }
    [[nodiscard]] const map_entry* entries() const noexcept {
        return reinterpret_cast<const map_entry*>(this + 1);
    }
};

struct cell_object : object {
    std::uint32_t position; ///< in heap::cells_
    value content;
};

class function; // compiled code, see code.hpp
struct immediate_call;

struct closure_object : object {
    const function* code; ///< counted
    std::uint32_t count;  ///< of captured values
    std::int32_t arity; ///< number of arguments with which it is entered at once; or one of these:
    static constexpr std::int32_t varies = -1;      ///< it has optional or rest parameters
    static constexpr std::int32_t is_confined = -2; ///< made inside a sandbox
    [[nodiscard]] bool confined() const noexcept { return arity == is_confined; }
    /// Of a confined closure: the policy of its sandbox, after the captured values.
    [[nodiscard]] const value& policy() const noexcept { return captured()[count]; }
    [[nodiscard]] std::uint32_t values() const noexcept { return count + (confined() ? 1U : 0U); }
    [[nodiscard]] value* captured() noexcept { return reinterpret_cast<value*>(this + 1); }
    [[nodiscard]] const value* captured() const noexcept {
        return reinterpret_cast<const value*>(this + 1);
    }
};

/// A value that the host defines: task, tool, future, join. Printed as #<type name>.
class host_object {
public:
    virtual ~host_object() = default;
    [[nodiscard]] virtual std::string_view type_name() const noexcept = 0; ///< for type-of
    [[nodiscard]] virtual std::string describe() const { return std::string(type_name()); }
    [[nodiscard]] virtual bool callable() const noexcept { return false; }
    /// Of a callable: what the machine runs at once when it is called, as a builtin, in place of an
    /// effect that the host performs. Null: it is an effect. Lives as long as the object.
    [[nodiscard]] virtual const immediate_call* at_once() const noexcept { return nullptr; }
    /// Whether it never changes, so that sessions may share it (host::session_image). What it
    /// refers to is looked at by visit_values().
    [[nodiscard]] virtual bool is_immutable() const noexcept { return false; }

    /// Receives the values that an object holds.
    class value_visitor {
    public:
        virtual void visit(const value& held) = 0;

    protected:
        ~value_visitor() = default;
    };
    /// Passes to the collector of cycles each value that this object holds, once for each time it
    /// holds it, and no value that another object holds in its place. A value that is not passed is
    /// never collected while it is held.
    virtual void visit_values(value_visitor&) const {}
};

struct host_holder : object {
    host_object* held;   ///< owned
    std::size_t charged; ///< bytes charged in addition to the holder
};

[[nodiscard]] value make_cell(heap& memory, value content);
/// `policy`: of the sandbox in which it is created, or nil. The captured values are nil at first.
[[nodiscard]] value make_closure(heap& memory, const function& code, std::uint32_t captured,
                                 const value& policy = {});
/// `bytes`: the size of `held`.
[[nodiscard]] value make_host(heap& memory, std::unique_ptr<host_object> held, std::size_t bytes);
template <class T>
[[nodiscard]] value make_host(heap& memory, std::unique_ptr<T> held) {
    return make_host(memory, std::move(held), sizeof(T));
}

[[nodiscard]] inline cell_object* cell_of(const value& v) noexcept {
    return static_cast<cell_object*>(v.target());
}
[[nodiscard]] inline closure_object* closure_of(const value& v) noexcept {
    return static_cast<closure_object*>(v.target());
}
/// Null if `v` is not a host object.
[[nodiscard]] inline host_object* host_of(const value& v) noexcept {
    return v.is(kind::host) ? static_cast<host_holder*>(v.target())->held : nullptr;
}
/// The host object as a T, or null.
template <class T>
[[nodiscard]] T* host_as(const value& v) noexcept {
    return dynamic_cast<T*>(host_of(v));
}

/// A counted reference to a host object that is a T, or null.
template <class T>
class host_ref {
public:
    host_ref() = default;
    [[nodiscard]] static host_ref make(heap& memory, std::unique_ptr<T> held) {
        host_ref result;
        result.held_ = make_host(memory, std::move(held));
        return result;
    }
    /// Null if `v` is not a T.
    [[nodiscard]] static host_ref from_value(const value& v) noexcept {
        host_ref result;
        if (host_as<T>(v)) result.held_ = v;
        return result;
    }

    [[nodiscard]] T* get() const noexcept { return static_cast<T*>(host_of(held_)); }
    [[nodiscard]] T* operator->() const noexcept { return get(); }
    [[nodiscard]] T& operator*() const noexcept { return *get(); }
    [[nodiscard]] explicit operator bool() const noexcept { return !held_.is_nil(); }
    [[nodiscard]] bool operator==(const host_ref& other) const noexcept {
        return held_.identical(other.held_);
    }
    /// nil when null.
    [[nodiscard]] const value& as_value() const noexcept { return held_; }

private:
    value held_;
};

} // namespace heddle::lang
