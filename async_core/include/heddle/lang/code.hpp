// Compiled code.
#pragma once

#include <heddle/base/source.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/lang/value.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heddle::lang {

enum class op : std::uint8_t {
#define HEDDLE_OP(name, operands, result) name,
#include <heddle/lang/ops.def>
#undef HEDDLE_OP
};

// One name for each field, however an opcode reads it. This needs an extension that both compilers
// have.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnested-anon-types"
#pragma clang diagnostic ignored "-Wgnu-anonymous-struct"
#endif

/// Eight bytes. `d` overlaps `b` and `c`.
struct instruction {
    op code;
    std::uint8_t x = 0;
    std::uint16_t a = 0;
    union {
        __extension__ struct {
            std::uint16_t b;
            std::uint16_t c;
        };
        std::int32_t d;
    };

    [[nodiscard]] static instruction abc(op code, unsigned a, unsigned b = 0, unsigned c = 0,
                                         unsigned x = 0) {
        instruction i;
        i.code = code;
        i.x = static_cast<std::uint8_t>(x);
        i.a = static_cast<std::uint16_t>(a);
        i.b = static_cast<std::uint16_t>(b);
        i.c = static_cast<std::uint16_t>(c);
        return i;
    }
    [[nodiscard]] static instruction ad(op code, unsigned a, std::int32_t d, unsigned x = 0) {
        instruction i;
        i.code = code;
        i.x = static_cast<std::uint8_t>(x);
        i.a = static_cast<std::uint16_t>(a);
        i.d = d;
        return i;
    }
};

#if defined(__clang__)
#pragma clang diagnostic pop
#endif
static_assert(sizeof(instruction) == 8);

/// What op::settings_push opens a scope for (its x), and thus what its operand is.
enum class scope_kind : std::uint8_t {
    settings, ///< a map of settings, as `with` writes them
    sandbox,  ///< a map of the clauses of `sandbox`
    receiver, ///< the function that receives the pieces of a streamed task call, or nil
    config,   ///< *loop-config*
    confined  ///< a function that was made in a sandbox: it is bound by the policy of the operand
};

/// What op::dynamic_get reads (its x).
enum class dynamic_name : std::uint8_t { loop_config, sandbox };

/// Where a new closure takes a captured value from.
struct capture {
    enum class from : std::uint8_t { local, captured, self };
    from where = from::local;
    std::uint32_t index = 0; ///< more than 16 bits only among the cells that eval is given
};

/// A protected range of code [begin, end): on an error (or, for a cleanup, on cancellation too) the
/// machine puts the error in a register and continues at `target`.
struct handler {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t target = 0;
    std::uint16_t slot = 0;
    bool cleanup = false;
};

/// The code of one lambda. Immutable once compiled; reference-counted without atomics. It is an
/// object, for the cycle collector, because code compiled by `eval` may hold any value; its memory
/// is not that of the heap.
class function : public object {
public:
    std::string name; ///< "" for an anonymous lambda
    source_span span;
    std::uint16_t required = 0;
    std::uint16_t optional = 0;
    bool has_rest = false;
    bool from_prelude = false;
    bool hidden = false; ///< of prelude or standard library: its positions mean nothing to a user
    std::uint16_t registers = 1; ///< parameters first
    bool leaf = false;           ///< calls nothing and cannot wait: it runs to its end at once
    std::uint16_t cleared = 1;   ///< leading registers that may hold an object at the end
    std::vector<instruction> code;
    std::vector<source_span> places; ///< of each instruction
    std::vector<value> constants;
    std::vector<const function*> functions; ///< nested, counted
    std::vector<capture> captures;
    std::vector<handler> handlers; ///< inner before outer
    std::vector<std::string> parameter_names;
    std::string doc; ///< its docstring, "" without one: see help.hpp
    /// Whether a cycle may lead through its constants or those of a nested function. The cycle
    /// collector ignores the others.
    bool may_close_cycle = false;

    explicit function(heap& memory);
    function(const function&) = delete;
    function& operator=(const function&) = delete;

    heap_charge charge; ///< of all of the above, except `functions` and constants

private:
    friend void function_release(const function* code) noexcept;
    ~function();
};

inline void function_retain(const function* code) noexcept {
    ++const_cast<function*>(code)->references; // the count is not part of the immutable state
}
void function_release(const function* code) noexcept;

/// Owns one reference to a function.
class function_ref {
public:
    function_ref() = default;
    explicit function_ref(const function* adopted) : code_(adopted) {}
    function_ref(const function_ref& other) : code_(other.code_) {
        if (code_) function_retain(code_);
    }
    function_ref(function_ref&& other) noexcept : code_(std::exchange(other.code_, nullptr)) {}
    function_ref& operator=(function_ref other) noexcept {
        std::swap(code_, other.code_);
        return *this;
    }
    ~function_ref() {
        if (code_) function_release(code_);
    }
    [[nodiscard]] const function* get() const noexcept { return code_; }
    [[nodiscard]] const function& operator*() const noexcept { return *code_; }
    [[nodiscard]] const function* operator->() const noexcept { return code_; }
    explicit operator bool() const noexcept { return code_ != nullptr; }

private:
    const function* code_ = nullptr;
};

} // namespace heddle::lang
