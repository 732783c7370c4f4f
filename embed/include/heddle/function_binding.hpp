// From the signature of a C++ function to a call with JSON. Include heddle/function.hpp.
#pragma once

#include <heddle/base/visibility.hpp>
#include <heddle/call.hpp>
#include <heddle/completion.hpp>
#include <heddle/convert.hpp>
#include <heddle/schema.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace HEDDLE_PUBLIC heddle {

struct function_definition;

namespace detail {

template <class... T>
struct types {};

/// Return type and parameters of a callable type that has exactly one signature.
template <class F>
struct signature_of {};
#define HEDDLE_SIGNATURE(qualifiers)                         \
    template <class C, class R, class... A>                  \
    struct signature_of<R (C::*)(A...) qualifiers> {         \
        using returned = std::remove_cvref_t<R>;             \
        using parameters = types<std::remove_cvref_t<A>...>; \
    };
HEDDLE_SIGNATURE()
HEDDLE_SIGNATURE(const)
HEDDLE_SIGNATURE(noexcept)
HEDDLE_SIGNATURE(const noexcept)
#undef HEDDLE_SIGNATURE
template <class R, class... A>
struct signature_of<R (*)(A...)> {
    using returned = std::remove_cvref_t<R>;
    using parameters = types<std::remove_cvref_t<A>...>;
};
template <class R, class... A>
struct signature_of<R (*)(A...) noexcept> : signature_of<R (*)(A...)> {};
template <class F>
requires requires { &F::operator(); }
struct signature_of<F> : signature_of<decltype(&F::operator())> {};

template <class F>
concept callable = requires {
    typename signature_of<F>::parameters;
};

/// Converts the return value of a function to the result of the call. heddle/function_awaitable.hpp
/// has the specialisation for awaitables.
template <class Returned>
struct returned_value {
    using type = Returned;
    static constexpr bool later = false;
    template <class F, class... A>
    static void run(const std::shared_ptr<pending_call>& pending, F& function, A&&... arguments) {
        if constexpr (std::is_void_v<Returned>) {
            function(std::forward<A>(arguments)...);
            pending->complete(json());
        } else {
            pending->complete(result_as_json<Returned>(function(std::forward<A>(arguments)...)));
        }
    }
};
template <class T>
struct returned_value<result<T>> {
    using type = T;
    static constexpr bool later = false;
    template <class F, class... A>
    static void run(const std::shared_ptr<pending_call>& pending, F& function, A&&... arguments) {
        pending->complete(result_of(function(std::forward<A>(arguments)...)));
    }
    static result<json> result_of(result<T> outcome) {
        if (!outcome) return std::move(outcome).error();
        if constexpr (std::is_void_v<T>) return json();
        else return result_as_json<T>(*outcome);
    }
};

/// Splits `heddle::call` off the parameters.
template <class... T>
struct split_first {
    static constexpr bool has_call = false;
    using rest = types<T...>;
};
template <class... T>
struct split_first<call, T...> {
    static constexpr bool has_call = true;
    using rest = types<T...>;
};
/// Splits `heddle::completion<T>` off the end of the parameters.
template <class Arguments, class... Left>
struct split_completion {
    using arguments = Arguments;
    using completion_type = void;
    static constexpr bool found = false;
};
template <class... Before, class T>
struct split_completion<types<Before...>, completion<T>> {
    using arguments = types<Before...>;
    using completion_type = completion<T>;
    static constexpr bool found = true;
};
template <class... Before, class First, class... Left>
struct split_completion<types<Before...>, First, Left...>
    : split_completion<types<Before..., First>, Left...> {};

/// Runs the function on its executor, or inline; an exception fails the call. `run` is called once.
void run_function(const std::shared_ptr<pending_call>& pending, bool elsewhere,
                  std::function<void()> run);
/// Begins a call, on the executor if there is one.
[[nodiscard]] std::shared_ptr<pending_call> begin_call(const std::string& function, call by,
                                                       const boost::asio::any_io_executor& executor,
                                                       function_completion done);
[[nodiscard]] result<void> check_count(std::size_t given, std::size_t wanted);
/// The error of an argument: "lookup-customer: id: expected …".
[[nodiscard]] error argument_error(const std::string& function, const error& failure);

/// Calls F with JSON.
template <class F>
class function_binding {
    using signature = signature_of<F>;
    template <class List>
    struct parts;
    template <class... T>
    struct parts<types<T...>> {
        using first = split_first<T...>;
    };
    using first = typename parts<typename signature::parameters>::first;
    template <class List>
    struct tail;
    template <class... T>
    struct tail<types<T...>> {
        using type = split_completion<types<>, T...>;
    };
    using last = typename tail<typename first::rest>::type;
    using returned = returned_value<typename signature::returned>;

    template <class List>
    struct tuple_of;
    template <class... T>
    struct tuple_of<types<T...>> {
        using type = std::tuple<T...>;
        using read = std::tuple<std::optional<T>...>;
    };
    using tuple = typename tuple_of<typename last::arguments>::type;

public:
    static constexpr std::size_t size = std::tuple_size_v<tuple>;
    static constexpr bool later = last::found || returned::later;
    template <std::size_t I>
    using argument = std::tuple_element_t<I, tuple>;
    static constexpr bool takes_struct = [] {
        if constexpr (size == 1) return described_struct<argument<0>>;
        else return false;
    }();

    /// Sets `invoke`, for arguments that are converted separately.
    template <class Definition>
    static void finish(Definition& definition, F function, boost::asio::any_io_executor executor) {
        set(definition, std::move(function), std::move(executor),
            [](const Definition& of, std::vector<json>& arguments, std::optional<error>& failure) {
                return read(of, arguments, failure, std::make_index_sequence<size>());
            });
    }
    /// Sets `invoke`, for arguments that are the members of one struct.
    template <class Definition>
    static void finish_with_struct(Definition& definition, F function,
                                   boost::asio::any_io_executor executor) {
        set(definition, std::move(function), std::move(executor),
            [](const Definition& of, std::vector<json>& arguments, std::optional<error>& failure) {
                json::object members;
                for (std::size_t i = 0; i < arguments.size(); ++i) {
                    const auto& parameter = of.parameters[i];
                    if (!parameter.optional || !arguments[i].is_null())
                        members.add(parameter.name, std::move(arguments[i]));
                }
                std::vector<json> whole;
                whole.emplace_back(std::move(members));
                const json_place at({}, failure);
                std::optional<tuple> read;
                if (auto value = converter_of<argument<0>>::read(whole[0], at))
                    read.emplace(*std::move(value));
                return read;
            });
    }

private:
    template <class Definition, std::size_t... I>
    static std::optional<tuple> read([[maybe_unused]] const Definition& of,
                                     [[maybe_unused]] const std::vector<json>& arguments,
                                     [[maybe_unused]] std::optional<error>& failure,
                                     std::index_sequence<I...>) {
        [[maybe_unused]] const json_place root({}, failure);
        typename tuple_of<typename last::arguments>::read read{
            converter_of<argument<I>>::read(arguments[I], root.in(of.parameters[I].name))...};
        if (!(std::get<I>(read).has_value() && ...)) return std::nullopt;
        return tuple{*std::move(std::get<I>(read))...};
    }

    template <class Definition, class Read>
    static void set(Definition& definition, F function, boost::asio::any_io_executor executor,
                    Read read_arguments) {
        definition.completes_later = later || executor;
        if constexpr (last::found) {
            definition.result_schema = result_schema<typename last::completion_type::value_type>();
        } else {
            definition.result_schema = result_schema<typename returned::type>();
        }
        // What calls need of the definition, which may be changed or destroyed.
        auto own = std::make_shared<Definition>();
        own->name = definition.name;
        own->parameters = definition.parameters;
        auto shared = std::make_shared<F>(std::move(function));
        definition.invoke = [own, shared, executor, read_arguments](
                                call by, std::vector<json> arguments, function_completion done) {
            auto pending = begin_call(own->name, std::move(by), executor, std::move(done));
            if (auto right = check_count(arguments.size(), own->parameters.size()); !right) {
                pending->complete(argument_error(own->name, right.error()));
                return;
            }
            std::optional<error> failure;
            std::optional<tuple> read = read_arguments(*own, arguments, failure);
            if (!read) {
                pending->complete(argument_error(own->name, *failure));
                return;
            }
            auto kept = std::make_shared<tuple>(*std::move(read));
            run_function(pending, static_cast<bool>(executor), [pending, shared, kept] {
                std::apply([&](auto&... each) { start(pending, shared, std::move(each)...); },
                           *kept);
            });
        };
    }

    template <class... A>
    static void start(const std::shared_ptr<pending_call>& pending,
                      const std::shared_ptr<F>& function, A&&... arguments) {
        if constexpr (first::has_call)
            with_call(pending, function, call(pending->by()), std::forward<A>(arguments)...);
        else with_call(pending, function, std::forward<A>(arguments)...);
    }
    template <class... A>
    static void with_call(const std::shared_ptr<pending_call>& pending,
                          const std::shared_ptr<F>& function, A&&... arguments) {
        if constexpr (last::found) {
            (*function)(std::forward<A>(arguments)..., typename last::completion_type(pending));
        } else if constexpr (returned::later) {
            returned::run(pending, function, std::forward<A>(arguments)...);
        } else {
            returned::run(pending, *function, std::forward<A>(arguments)...);
        }
    }

    template <class T>
    static json result_schema() {
        if constexpr (std::is_void_v<T>) return type_schema("null");
        else return schema_of<T>();
    }
};

} // namespace detail
} // namespace heddle
