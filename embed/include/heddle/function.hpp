// Functions of the host that workflows and models call.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/visibility.hpp>
#include <heddle/call.hpp>
#include <heddle/completion.hpp>
#include <heddle/function_awaitable.hpp>
#include <heddle/function_binding.hpp>
#include <heddle/json.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace HEDDLE_PUBLIC heddle {

/// What happens to a call of a function when the recorded call of a workflow
/// (runtime_options::journal) is executed again, after a crash or for a further attempt.
enum class function_replay : std::uint8_t {
    answer, ///< its recorded result or error is used; the function is not called again
    redo,   ///< it is called again, and nothing of it is kept: for what is cheap and current
    output  ///< as answer, but the workflow does not wait for the record: for what only informs
};

/// How a function is called. All members are optional.
struct function_options {
    /// Where the function runs; empty: on the thread of the workflow. A function that blocks needs
    /// one, such as that of a boost::asio::thread_pool.
    boost::asio::any_io_executor executor{};
    function_replay replays = function_replay::answer;
    /// Its result depends on nothing but its arguments, and it does nothing else. Workflows call it
    /// as a builtin then: at once, without a wait or a record. It must be short, return its result
    /// itself, and have no executor. It learns nothing from a heddle::call.
    bool pure = false;
};

/// The name of a parameter, and its documentation for models.
struct parameter {
    std::string name;
    std::string documentation{};

    parameter(const char* plain_name) : name(plain_name) {} // so that {"id", "limit"} is a list
    parameter(std::string plain_name, std::string text = {})
        : name(std::move(plain_name)), documentation(std::move(text)) {}
};

struct function_parameter {
    std::string name;
    json schema; ///< JSON Schema of the argument
    bool optional = false;
    std::string documentation{};
};

/// A function of the host, without its C++ types. make_function creates it from a typed function.
struct function_definition {
    std::string name;          ///< workflows and models call it by this name: "lookup-customer"
    std::string documentation; ///< for people and models: what it does, in one or more sentences
    std::vector<function_parameter> parameters;
    json result_schema = json::object();
    bool completes_later = false; ///< it is asynchronous, or runs on another executor
    function_replay replays = function_replay::answer;
    bool pure = false; ///< as function_options::pure: `invoke` completes before it returns
    /// Calls the function: one argument for each parameter, null for an optional one that is
    /// absent. It calls the completion once, before or after it returns, on any thread.
    std::function<void(call, std::vector<json>, function_completion)> invoke;

    /// Checks names, parameters and options.
    /// Errors: invalid_argument: a name that is empty, contains characters other than letters,
    /// digits, `-`, `_`, `/`, `?` and `!`, is that of a form or builtin, or occurs twice; an empty
    /// `invoke`; a pure function that completes later, or has another `replays` than `answer`.
    [[nodiscard]] result<void> check() const;
    /// The JSON Schema of an object with the arguments by name, as models receive it.
    [[nodiscard]] json schema() const;
    /// The arguments in the order of the parameters, from an object with the arguments by name.
    /// Errors: invalid_argument: a missing or unknown argument.
    [[nodiscard]] result<std::vector<json>> by_name(json::object arguments) const;
    /// The arguments for all parameters; trailing optional ones can be omitted.
    /// Errors: invalid_argument: too few or too many.
    [[nodiscard]] result<std::vector<json>> by_position(std::vector<json> arguments) const;
};

namespace detail {

[[nodiscard]] function_definition define(std::string name, std::string documentation,
                                         const function_options& options);
void add_parameter(function_definition& to, const parameter& named, json schema, bool optional);

template <class Binding, std::size_t... I>
void add_parameters(function_definition& to, const parameter* names, std::index_sequence<I...>) {
    (add_parameter(to, names[I], schema_of<typename Binding::template argument<I>>(),
                   is_optional<typename Binding::template argument<I>>),
     ...);
}

} // namespace detail

/// Creates the definition of a C++ function that workflows and models can call. `function` is
///
/// - a plain function, `[](std::int64_t id) -> customer`, which must not block its thread,
/// - a function that returns `boost::asio::awaitable<customer>`,
/// - a function that takes a completion, `[](std::int64_t id, heddle::completion<customer> done)`.
///
/// It can take a heddle::call before its arguments. Arguments and result are converted as
/// heddle/convert.hpp describes; the result can be a `heddle::result<T>` or void. An exception or
/// an error fails the call. The definition stores the function, which may be called on several
/// threads at the same time.
///
/// `parameters`: the names of the arguments, one for each. A std::optional argument can be omitted.
///
///     make_function("lookup-customer", "Finds a customer by id.", {"id"},
///                   [&db](std::int64_t id) { return db.find(id); });
template <std::size_t N, class Function>
[[nodiscard]] function_definition make_function(std::string name, std::string documentation,
                                                const parameter (&parameters)[N], Function function,
                                                const function_options& options = {}) {
    using binding = detail::function_binding<Function>;
    static_assert(binding::size == N,
                  "one name is needed for each parameter of the function, not "
                  "counting heddle::call and heddle::completion");
    function_definition definition =
        detail::define(std::move(name), std::move(documentation), options);
    detail::add_parameters<binding>(definition, parameters, std::make_index_sequence<N>());
    binding::finish(definition, std::move(function), options.executor);
    return definition;
}

/// The same for a function without parameters, and for a function whose only argument is a struct
/// described by Boost.Describe: the members of the struct are the parameters.
template <class Function>
requires detail::callable<Function>
[[nodiscard]] function_definition make_function(std::string name, std::string documentation,
                                                Function function,
                                                const function_options& options = {}) {
    using binding = detail::function_binding<Function>;
    function_definition definition =
        detail::define(std::move(name), std::move(documentation), options);
    if constexpr (binding::size != 0) {
        static_assert(
            binding::takes_struct,
            "name the parameters: make_function(name, documentation, {\"id\"}, function); "
            "only those of one struct described by Boost.Describe are known");
        using arguments = typename binding::template argument<0>;
        using members = detail::members_in<arguments>;
        schema_builder builder;
        json::array schemas = members::schemas(builder);
        for (std::size_t i = 0; i < members::size; ++i) {
            detail::add_parameter(definition, {std::string(members::names[i])},
                                  builder.complete(std::move(schemas[i])), !members::required[i]);
        }
        binding::finish_with_struct(definition, std::move(function), options.executor);
    } else {
        binding::finish(definition, std::move(function), options.executor);
    }
    return definition;
}

} // namespace heddle
