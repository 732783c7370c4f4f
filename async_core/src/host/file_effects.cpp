#include "file_effects.hpp"

#include "world_effect.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

namespace heddle::host {

namespace {

using lang::kind;
using lang::value;

/// Base of what needs the file port and a path first.
class file_effect : public world_effect {
public:
    bool only_reads() const noexcept override { return row().name != "write-file"; }

protected:
    using world_effect::world_effect;

    [[nodiscard]] result<std::string> path_of(const effect_call& call) const {
        if (!call.session.engine().parts().files) {
            return error(lang::errc::permission,
                         std::string(row().name) + ": this host does not give access to files");
        }
        const value& path = call.request.arguments[0];
        if (!path.is(kind::string)) return type_error(call.session, 1, "a string", path);
        return std::string(lang::string_bytes(path));
    }
    [[nodiscard]] static error in_script(const error& failure, std::string_view who) {
        if (failure.is_cancelled()) return failure;
        return error(lang::errc::evaluation, std::string(who) + ": " + failure.message())
            .with_hint(failure.info().hint)
            .with_cause(failure);
    }
};

class read_file final : public file_effect {
public:
    read_file()
        : file_effect({.name = "read-file",
                       .parameters = "path",
                       .min_arguments = 1,
                       .max_arguments = 1,
                       .summary = "The text of a file in the workspace."}) {}
    coro::task<result<value>> run(effect_call call) override {
        auto path = path_of(call);
        if (!path) co_return path.error();
        result<std::string> text =
            co_await call.session.engine().parts().files->read(*path, call.context);
        if (!text) co_return in_script(text.error(), "read-file");
        std::string what = "read-file: " + *path;
        result<value> content = co_await text_value(call, *std::move(text), std::move(what));
        co_return content;
    }
};

class write_file final : public file_effect {
public:
    write_file()
        : file_effect({.name = "write-file",
                       .parameters = "path text",
                       .min_arguments = 2,
                       .max_arguments = 2,
                       .summary = "Replaces a file in the workspace; returns its path."}) {}
    coro::task<result<value>> run(effect_call call) override {
        auto path = path_of(call);
        if (!path) co_return path.error();
        const value& text = call.request.arguments[1];
        if (!text.is(kind::string)) co_return type_error(call.session, 2, "a string", text);
        auto content = co_await content_of(call, text);
        if (!content) co_return std::move(content).error();
        const result<void> written = co_await call.session.engine().parts().files->write(
            *path, *std::move(content), call.context);
        if (!written) co_return in_script(written.error(), "write-file");
        co_return call.request.arguments[0];
    }
};

class file_exists final : public file_effect {
public:
    file_exists()
        : file_effect({.name = "file-exists?",
                       .parameters = "path",
                       .min_arguments = 1,
                       .max_arguments = 1,
                       .summary = "True if the workspace has a file or directory with that "
                                  "path."}) {}
    coro::task<result<value>> run(effect_call call) override {
        auto path = path_of(call);
        if (!path) co_return path.error();
        const result<bool> found =
            co_await call.session.engine().parts().files->exists(*path, call.context);
        if (!found) co_return in_script(found.error(), "file-exists?");
        co_return value::boolean(*found);
    }
};

class list_directory final : public file_effect {
public:
    list_directory()
        : file_effect(
              {.name = "list-directory",
               .parameters = "[path]",
               .max_arguments = 1,
               .summary =
                   "The names in a directory of the workspace, sorted; directories end in \"/\"."}) {
    }
    coro::task<result<value>> run(effect_call call) override {
        if (call.request.arguments.empty())
            call.request.arguments.push_back(lang::make_string(call.session.memory(), "."));
        auto path = path_of(call);
        if (!path) co_return path.error();
        const result<std::vector<std::string>> names =
            co_await call.session.engine().parts().files->list(*path, call.context);
        if (!names) co_return in_script(names.error(), "list-directory");
        std::vector<value> items;
        for (const std::string& name : *names)
            items.push_back(lang::make_string(call.session.memory(), name));
        co_return lang::make_list(call.session.memory(), items);
    }
};

} // namespace

std::vector<std::shared_ptr<effect_handler>> make_file_effects() {
    return {std::make_shared<read_file>(), std::make_shared<write_file>(),
            std::make_shared<file_exists>(), std::make_shared<list_directory>()};
}

} // namespace heddle::host
