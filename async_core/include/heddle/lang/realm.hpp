// The state that all code of a session shares.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/source.hpp>
#include <heddle/lang/builtin.hpp>
#include <heddle/lang/global_table.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/lang/named_values.hpp>
#include <heddle/lang/objects.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::lang {

class code_service;
class compile_watch;
class host_object;

/// How to call an operator that is neither a lexical binding nor a builtin.
struct operator_info {
    value callable;       ///< host object
    bool is_tool = false; ///< tools take clauses only
    bool declares_inputs = false;
    std::vector<std::string> inputs; ///< declared names, in order
    std::string name;
    std::vector<std::string> aliases; ///< further names it can be called by ("type:subtype")
};

/// Documentation of a task or tool.
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

/// The interface of the language to its host: effects and names that the host defines.
/// Threads: the session's only. Called while compiling and running; must not call back.
class host_names {
public:
    virtual ~host_names() = default;
    /// The row of an effect builtin ("log-message", "read-file", "call-atomic-task"), or null.
    [[nodiscard]] virtual const builtin* find_effect(std::string_view name) const = 0;
    /// A registered task (by name, then by type:subtype) or tool.
    [[nodiscard]] virtual std::optional<operator_info> find_operator(
        heap& memory, std::string_view name) const = 0;
    /// How to call a host object; nothing if it is not a task or tool.
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
    /// The same, where a time begins that limits something. A host whose clock pauses while
    /// programs compute sets it here.
    [[nodiscard]] virtual double begin_time() const { return now(); }
    /// Collects names for suggestions.
    virtual void collect_names(std::vector<std::string>& names) const = 0;
};

/// Heap, globals, sources and the host's names. One per session; outlives its fibers.
class realm {
public:
    /// With the compiler, the documentation and the standard library.
    realm();
    explicit realm(const host_names& host);
    /// `stages`: those that running code can reach. Both outlive the realm.
    realm(const host_names& host, const code_service& stages);
    /// Begins with what `base` has, and changes nothing of it. `base` is frozen, and outlives the
    /// realm. Constant time.
    realm(const realm& base, const host_names& host);
    realm(const realm&) = delete;
    realm& operator=(const realm&) = delete;

    [[nodiscard]] heap& memory() noexcept { return *memory_; }
    [[nodiscard]] source_map& sources() noexcept { return sources_; }
    [[nodiscard]] const source_map& sources() const noexcept { return sources_; }
    [[nodiscard]] const host_names& host() const noexcept { return *host_; }
    [[nodiscard]] const code_service& stages() const noexcept { return *stages_; }

    // Two layers of names: what the prelude defines, and what programs define above it. A program
    // that defines a name of the prelude gets a separate slot; the prelude keeps its own, and so
    // does code that eval or sandbox isolates from the globals of the program.

    /// The slot that a definition of `name` writes; created (unbound) if it does not exist.
    [[nodiscard]] std::uint32_t global_index(std::string_view name);
    /// The slot that a use of `name` reads: that of the program if it is bound there, else that of
    /// the prelude, else a new unbound slot of the program.
    [[nodiscard]] std::uint32_t reference_index(std::string_view name);
    /// Index of a bound global: of the program, else of the prelude.
    [[nodiscard]] std::optional<std::uint32_t> find_global(std::string_view name) const;
    /// As find_global, only in the layer of the program.
    [[nodiscard]] std::optional<std::uint32_t> find_program_global(std::string_view name) const;
    /// As find_global, only in the layer of the prelude.
    [[nodiscard]] std::optional<std::uint32_t> find_prelude_global(std::string_view name) const;
    [[nodiscard]] const value& global(std::uint32_t index) const noexcept {
        return globals_[index];
    }
    /// To write its value.
    [[nodiscard]] value& change_global(std::uint32_t index) { return globals_.change(index); }
    /// As change_global(); null while that would copy the globals of a base.
    [[nodiscard]] value* try_change_global(std::uint32_t index) noexcept {
        return globals_.try_change(index);
    }
    [[nodiscard]] std::string_view global_name(std::uint32_t index) const noexcept {
        return globals_.name(index);
    }
    [[nodiscard]] bool is_prelude_global(std::uint32_t index) const noexcept {
        return globals_.is_prelude(index);
    }
    [[nodiscard]] std::size_t global_count() const noexcept { return globals_.size(); }
    void define(std::string_view name, value content);
    /// Removes the global or macro of that name that a program defined, so that what it hides is
    /// found again; code that was compiled before and uses it fails. False if there is none.
    bool undefine(std::string_view name);
    /// Where the definition of a global is that was compiled last; it may not have run yet. Unknown
    /// if there is none.
    [[nodiscard]] source_span definition_of(std::uint32_t index) const noexcept {
        return globals_.definition(index);
    }
    void note_definition(std::uint32_t index, source_span place) {
        globals_.note_definition(index, place);
    }

    /// From here on a definition or assignment of a global is an error: what runs must leave
    /// nothing for what runs next.
    void freeze_globals() noexcept { globals_frozen_ = true; }
    [[nodiscard]] bool is_frozen(std::uint32_t index) const noexcept {
        return globals_frozen_ && !globals_.is_prelude(index);
    }

    /// From here on nothing changes, and other realms may begin with what is here. Frees garbage.
    void freeze() noexcept { memory_->freeze(); }
    /// Passes each value that programs leave behind: globals, macros, libraries.
    void visit_values(host_object::value_visitor& visitor) const;

    /// The expander of a macro that the program defined, or null.
    [[nodiscard]] const value* find_macro(std::string_view name) const;
    [[nodiscard]] bool has_macros() const noexcept { return !macros_.is_empty(); }
    void define_macro(std::string_view name, value expander);
    /// Called when a definition of a value replaces a macro of that name.
    void forget_macro(std::string_view name);

    /// The value of an imported library, by its name without "std/"; null if it was not imported.
    [[nodiscard]] const value* imported_library(const std::string& name) const;
    void note_library(std::string name, value content);

    /// A counter that the host increments. Groups of branches record its value when they begin
    /// (branch_group), so that the host knows which of its events they have in scope.
    [[nodiscard]] std::uint64_t host_events() const noexcept { return host_events_; }
    std::uint64_t note_host_event() noexcept { return ++host_events_; }

    /// True while the prelude is compiled: its functions are marked, and may use forms of the
    /// prelude.
    [[nodiscard]] bool compiling_prelude() const noexcept { return compiling_prelude_; }
    void set_compiling_prelude(bool on) noexcept { compiling_prelude_ = on; }

    /// One compilation under way, in its scope.
    class compile_level {
    public:
        explicit compile_level(realm& owner) noexcept : owner_(owner) { ++owner_.compiling_; }
        ~compile_level() { --owner_.compiling_; }
        compile_level(const compile_level&) = delete;
        compile_level& operator=(const compile_level&) = delete;
        /// Number of compilations under way, including this one: compiled code may run and compile.
        [[nodiscard]] unsigned depth() const noexcept { return owner_.compiling_; }

    private:
        realm& owner_;
    };

    /// Of the innermost compilation under way, or null.
    [[nodiscard]] compile_watch* watch() const noexcept { return watch_; }
    void set_watch(compile_watch* watch) noexcept { watch_ = watch; }

    /// The compilations under way, set aside while another fiber has its turn.
    struct compile_state {
        compile_watch* watch = nullptr;
        unsigned depth = 0;
    };
    /// Replaces the state. Result: the previous one.
    compile_state exchange_compile_state(const compile_state& other) noexcept {
        const compile_state until_here{watch_, compiling_};
        watch_ = other.watch;
        compiling_ = other.depth;
        return until_here;
    }
    /// A number that identifies a fiber that start_fiber creates.
    [[nodiscard]] std::uint32_t next_fiber_number() noexcept { return fibers_numbered_++; }
    std::size_t permits_held = 0; ///< of semaphores, by programs
    unsigned native_stacks = 0;   ///< in use by computations that take turns with the loop
    bool has_semaphores = false;  ///< a program has created one
    bool has_tools = false;       ///< in the language, or that models may call

    /// The error that ends all branches which reach one limit. They share it, because separate
    /// errors of a hundred thousand branches would take more time and memory than their work.
    struct common_failure {
        const void* extent; ///< that has ended; null: memory or steps of the run
        error failure;
    };
    std::optional<common_failure> common;

    /// For tests of the machine: stacks and frames move at each run of the machine and each time
    /// they grow, and the memory they leave is overwritten, so that the use of a stale pointer
    /// shows.
    [[nodiscard]] bool moves_stacks() const noexcept { return moves_stacks_; }
    void set_moves_stacks(bool on) noexcept { moves_stacks_ = on; }

    /// Every name that a program can use now: globals, macros, special forms, builtins, and names
    /// of the host. In no particular order; a name may occur twice.
    void collect_names(std::vector<std::string>& names) const;

    /// UnboundSymbolError with similar names.
    [[nodiscard]] error unbound_error(std::string_view name) const;

private:
    heap_owner memory_;
    source_map sources_;
    const host_names* host_;
    const code_service* stages_;
    global_table globals_;
    named_values macros_;
    named_values libraries_;
    std::uint64_t host_events_ = 0;
    std::uint32_t fibers_numbered_ = 0;
    unsigned compiling_ = 0;
    compile_watch* watch_ = nullptr;
    bool compiling_prelude_ = false;
    bool globals_frozen_ = false;
    bool moves_stacks_ = false;
};

/// A host without names and effects, for tests and tools of the language.
[[nodiscard]] const host_names& no_host() noexcept;

/// Up to three of `candidates` that differ little from `name` (optimal string alignment), as "did
/// you mean a, b or c?"; empty if none is similar.
[[nodiscard]] std::string suggest_names(std::string_view name,
                                        const std::vector<std::string>& candidates);

} // namespace heddle::lang
