// What all code of a session shares.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/source.hpp>
#include <heddle/lang/builtin.hpp>
#include <heddle/lang/heap.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heddle::lang {

class code_service;
class compile_watch;
class host_object;

/// How an operator that is no lexical binding and no primitive is to be called.
struct operator_info {
    value callable;       ///< host object
    bool is_tool = false; ///< tools take clauses only
    bool declares_inputs = false;
    std::vector<std::string> inputs; ///< declared names, in order
    std::string name;
    std::vector<std::string> aliases; ///< further names it can be called by ("type:subtype")
};

/// What help says about a task or tool.
struct operator_doc {
    struct input {
        std::string name;
        std::string type; ///< as written; empty when unknown
        std::string description;
        bool optional = false;
    };
    bool is_tool = false;
    std::string description;
    std::vector<input> inputs;
    source_span place; ///< of its definition
};

/// The host's side of the language: effects and names that live outside.
/// Threads: the session's only. Called while compiling and running; must not call back.
class host_names {
public:
    virtual ~host_names() = default;
    /// The row of an effect primitive ("log-message", "read-file", "call-atomic-task"), or null.
    [[nodiscard]] virtual const builtin* find_effect(std::string_view name) const = 0;
    /// A registered task (by name, then by type:subtype) or tool.
    [[nodiscard]] virtual std::optional<operator_info> find_operator(
        heap& memory, std::string_view name) const = 0;
    /// How a callable host object wants its arguments; nothing when it is not a task or tool.
    [[nodiscard]] virtual std::optional<operator_info> describe_callable(
        const host_object& callable) const = 0;
    /// Documentation of a registered task or tool.
    [[nodiscard]] virtual std::optional<operator_doc> describe_operator(std::string_view) const {
        return std::nullopt;
    }
    /// True for reserved keys of task calls (files, context, model, …).
    [[nodiscard]] virtual bool is_reserved_key(std::string_view name) const = 0;
    /// Monotonic time in seconds, for deadlines.
    [[nodiscard]] virtual double now() const = 0;
    /// Names to suggest from.
    virtual void collect_names(std::vector<std::string>& names) const = 0;
};

/// Heap, globals, sources and the host's names. One per session; outlives its fibers.
class realm {
public:
    /// With the compiler, the documentation and the standard library.
    realm();
    explicit realm(const host_names& host);
    /// `stages`: what running code reaches of them. Both outlive the realm.
    realm(const host_names& host, const code_service& stages);
    realm(const realm&) = delete;
    realm& operator=(const realm&) = delete;

    [[nodiscard]] heap& memory() noexcept { return *memory_; }
    [[nodiscard]] source_map& sources() noexcept { return sources_; }
    [[nodiscard]] const source_map& sources() const noexcept { return sources_; }
    [[nodiscard]] const host_names& host() const noexcept { return *host_; }
    [[nodiscard]] const code_service& stages() const noexcept { return *stages_; }

    // Two layers of names: what the prelude defines, and what programs define above it. A program
    // that defines a name of the prelude gets a slot of its own; the prelude keeps using its own,
    // and so does code that eval or sandbox closes off from the program's globals.

    /// The slot that a definition of `name` writes; made (unbound) when it is not there.
    [[nodiscard]] std::uint32_t global_index(std::string_view name);
    /// The slot that a use of `name` reads: the program's when it is bound there, else the
    /// prelude's, else a new unbound one of the program.
    [[nodiscard]] std::uint32_t reference_index(std::string_view name);
    /// Index of a global that exists and is bound: the program's, else the prelude's.
    [[nodiscard]] std::optional<std::uint32_t> find_global(std::string_view name) const;
    /// As find_global, the program's layer alone.
    [[nodiscard]] std::optional<std::uint32_t> find_program_global(std::string_view name) const;
    /// As find_global, the prelude's layer alone.
    [[nodiscard]] std::optional<std::uint32_t> find_library_global(std::string_view name) const;
    [[nodiscard]] value& global(std::uint32_t index) noexcept { return globals_[index].content; }
    [[nodiscard]] std::string_view global_name(std::uint32_t index) const noexcept {
        return globals_[index].name;
    }
    [[nodiscard]] bool is_library_global(std::uint32_t index) const noexcept {
        return globals_[index].library;
    }
    [[nodiscard]] std::size_t global_count() const noexcept { return globals_.size(); }
    void define(std::string_view name, value content);
    /// Where the last definition of a global is that was compiled; it may not have run yet.
    /// Unknown: none was.
    [[nodiscard]] source_span definition_of(std::uint32_t index) const noexcept {
        return globals_[index].definition;
    }
    void note_definition(std::uint32_t index, source_span place) noexcept {
        globals_[index].definition = place;
    }

    /// From here on a definition or assignment of a global is an error: what runs must leave
    /// nothing for what runs next.
    void freeze_globals() noexcept { globals_frozen_ = true; }
    [[nodiscard]] bool is_frozen(std::uint32_t index) const noexcept {
        return globals_frozen_ && !globals_[index].library;
    }
    [[nodiscard]] bool globals_are_frozen() const noexcept { return globals_frozen_; }

    /// The expander of a macro that the program defined, or null.
    [[nodiscard]] const value* find_macro(std::string_view name) const;
    [[nodiscard]] bool has_macros() const noexcept { return !macros_.empty(); }
    void define_macro(std::string_view name, value expander);
    /// A definition of a value takes the place of a macro of that name.
    void forget_macro(std::string_view name);

    /// The value of a library that was imported, by its name without "std/"; null before.
    [[nodiscard]] const value* imported_library(const std::string& name) const;
    void note_library(std::string name, value content);

    /// A count that the host raises. Groups of branches note it as it was when they began
    /// (branch_group), so that the host can tell what a branch was there for.
    [[nodiscard]] std::uint64_t host_events() const noexcept { return host_events_; }
    std::uint64_t note_host_event() noexcept { return ++host_events_; }

    /// True while the prelude is compiled: its functions are marked, and may use the prelude's
    /// forms.
    [[nodiscard]] bool compiling_library() const noexcept { return compiling_library_; }
    void set_compiling_library(bool on) noexcept { compiling_library_ = on; }

    /// One compilation under way, in its scope.
    class compile_level {
    public:
        explicit compile_level(realm& owner) noexcept : owner_(owner) { ++owner_.compiling_; }
        ~compile_level() { --owner_.compiling_; }
        compile_level(const compile_level&) = delete;
        compile_level& operator=(const compile_level&) = delete;
        /// How many are, this one included: code that is compiled may run, and compile.
        [[nodiscard]] unsigned depth() const noexcept { return owner_.compiling_; }

    private:
        realm& owner_;
    };

    /// Of the innermost compilation under way, or null.
    [[nodiscard]] compile_watch* watch() const noexcept { return watch_; }
    void set_watch(compile_watch* watch) noexcept { watch_ = watch; }

    /// The compilations under way, to be put aside while another fiber has its turn.
    struct compile_state {
        compile_watch* watch = nullptr;
        unsigned depth = 0;
    };
    /// The state until here.
    compile_state exchange_compile_state(const compile_state& other) noexcept {
        const compile_state until_here{watch_, compiling_};
        watch_ = other.watch;
        compiling_ = other.depth;
        return until_here;
    }
    /// Tells the fibers that start_fiber makes from each other.
    [[nodiscard]] std::uint32_t next_fiber_number() noexcept { return fibers_numbered_++; }
    std::size_t permits_held = 0; ///< of semaphores, by programs
    unsigned native_stacks = 0;   ///< in use by computations that take turns with the loop
    bool has_semaphores = false;  ///< a program has made one, at some time

    /// The error that ends all branches which meet one limit: one for all of them, because a
    /// hundred thousand that each made its own would need more time and memory than they had for
    /// their work.
    struct common_failure {
        const void* extent; ///< that is over; null: the run's memory or steps
        error failure;
    };
    std::optional<common_failure> common;

    /// For tests of the machine: stacks and frames move at each run of the machine and each time
    /// they grow, and the memory they leave is spoilt, so that a pointer kept too long shows.
    [[nodiscard]] bool moves_stacks() const noexcept { return moves_stacks_; }
    void set_moves_stacks(bool on) noexcept { moves_stacks_ = on; }

    /// Every name a program can use now: globals, macros, special forms, primitives, and the
    /// host's. Without order; a name may come twice.
    void collect_names(std::vector<std::string>& names) const;

    /// UnboundSymbolError with names that look alike.
    [[nodiscard]] error unbound_error(std::string_view name) const;

private:
    struct global_slot {
        std::string name;
        value content;
        bool library = false;
        source_span definition{};
    };
    using index_map = std::unordered_map<std::string, std::uint32_t>;
    [[nodiscard]] std::optional<std::uint32_t> find_bound(const index_map& layer,
                                                          std::string_view name) const;
    heap_owner memory_;
    source_map sources_;
    const host_names* host_;
    const code_service* stages_;
    std::vector<global_slot> globals_;
    heap_charge names_; ///< of the globals
    index_map program_indexes_;
    index_map library_indexes_;
    std::unordered_map<std::string, value> macros_;
    std::unordered_map<std::string, value> libraries_;
    std::uint64_t host_events_ = 0;
    std::uint32_t fibers_numbered_ = 0;
    unsigned compiling_ = 0;
    compile_watch* watch_ = nullptr;
    bool compiling_library_ = false;
    bool globals_frozen_ = false;
    bool moves_stacks_ = false;
};

/// A host that knows nothing, for tests and tools of the language alone.
[[nodiscard]] const host_names& no_host() noexcept;

/// Up to three of `candidates` that differ little from `name` (optimal string alignment), as
/// "did you mean a, b or c?"; empty when none is near.
[[nodiscard]] std::string suggest_names(std::string_view name,
                                        const std::vector<std::string>& candidates);

} // namespace heddle::lang
