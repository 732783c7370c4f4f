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
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace HEDDLE_PUBLIC heddle {

/// How a function is called. All of it is optional.
struct function_options {
    /// Where the function runs; empty: on the thread of the workflow. A function that blocks needs
    /// one, such as that of a boost::asio::thread_pool.
    boost::asio::any_io_executor executor{};
};

/// The name of a parameter, and what models read about it.
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

/// A function of the host, without its C++ types. make_function makes it of a typed one.
struct function_definition {
    std::string name;          ///< by which workflows and models call it: "lookup-customer"
    std::string documentation; ///< for people and models: what it does, in one or more sentences
    std::vector<function_parameter> parameters;
    json result_schema = json::object();
    bool completes_later = false; ///< it awaits, calls back, or runs on another executor
    /// Calls the function: one argument for each parameter, null for an optional one that is
    /// absent. The completion is called once, in this call or later, on any thread.
    std::function<void(call, std::vector<json>, function_completion)> invoke;

    /// Whether names, parameters and options are usable.
    /// Errors: invalid_argument: a name that is empty, has other characters than letters, digits,
    /// `-`, `_`, `/`, `?` and `!`, is that of a form or builtin, or occurs twice; no `invoke`.
    [[nodiscard]] result<void> check() const;
    /// The JSON Schema of an object with the arguments by name, as models read it.
    [[nodiscard]] json schema() const;
    /// The arguments in the order of the parameters, from an object with them by name.
    /// Errors: invalid_argument: one that is missing or unknown.
    [[nodiscard]] result<std::vector<json>> by_name(json::object arguments) const;
    /// The arguments for all parameters; the last ones may be left out if they are optional.
    /// Errors: invalid_argument: too few or too many.
    [[nodiscard]] result<std::vector<json>> by_position(std::vector<json> arguments) const;
};

namespace detail {

[[nodiscard]] function_definition define(std::string name, std::string documentation);
void add_parameter(function_definition& to, const parameter& named, json schema, bool optional);

template <class Binding, std::size_t... I>
void add_parameters(function_definition& to, const parameter* names, std::index_sequence<I...>) {
    (add_parameter(to, names[I], schema_of<typename Binding::template argument<I>>(),
                   is_optional<typename Binding::template argument<I>>),
     ...);
}

} // namespace detail

/// A definition of a C++ function that workflows and models may call. `function` is
///
/// - a plain function: `[](std::int64_t id) -> customer`, which must not block its thread,
/// - one that returns `boost::asio::awaitable<customer>`,
/// - one that calls back: `[](std::int64_t id, heddle::completion<customer> done)`.
///
/// It may take a heddle::call before its arguments. Arguments and result are converted as
/// heddle/convert.hpp has it; a result may be a `heddle::result<T>` or void. An exception, or an
/// error, is the failure of the call. The function is kept, and may be called on several threads at
/// the same time.
///
/// `parameters`: the names of the arguments, one for each. A std::optional may be left out.
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
    function_definition definition = detail::define(std::move(name), std::move(documentation));
    detail::add_parameters<binding>(definition, parameters, std::make_index_sequence<N>());
    binding::finish(definition, std::move(function), options.executor);
    return definition;
}

/// The same for a function without parameters, and for one whose only argument is a struct that
/// Boost.Describe describes: its members are the parameters.
template <class Function>
requires detail::callable<Function>
[[nodiscard]] function_definition make_function(std::string name, std::string documentation,
                                                Function function,
                                                const function_options& options = {}) {
    using binding = detail::function_binding<Function>;
    function_definition definition = detail::define(std::move(name), std::move(documentation));
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
