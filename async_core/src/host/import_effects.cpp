#include "import_effects.hpp"

#include "import_table.hpp"

#include <heddle/host/session.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

#include <optional>

namespace heddle::host {

namespace {

using lang::builtin;
using lang::value;

value entry(lang::heap& memory, value map, std::string_view key, value item) {
    return lang::map_put(memory, std::move(map), key, std::move(item));
}

/// The TypeError when one of the first `count` arguments is not a string.
std::optional<error> check_strings(const builtin& row, const std::vector<value>& given,
                                   std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        if (given[i].is(lang::kind::string)) continue;
        return error(lang::errc::type, std::string(row.name) + ": argument " +
                                           std::to_string(i + 1) + " must be a string");
    }
    return std::nullopt;
}

/// (%import-begin path from): a map with `value` when the file was imported already, else with
/// `name` and `text`, to be evaluated now, and `turn`, the right to, to be given to %import-end.
class import_begin final : public effect_handler {
public:
    const builtin& row() const noexcept override { return row_; }
    replay_class replays() const noexcept override { return replay_class::redo; }

    coro::task<result<value>> run(effect_call call) override {
        import_port* port = call.session.engine().parts().imports;
        if (!port) {
            co_return error(lang::errc::permission,
                            "import: this host does not give access to files")
                .with_hint("libraries can be imported: (import std/lists)");
        }
        const auto& given = call.request.arguments;
        if (auto wrong = check_strings(row_, given, 2)) co_return *std::move(wrong);
        const std::string path(lang::string_bytes(given[0]));
        const std::string from(lang::string_bytes(given[1]));
        result<imported_source> source = co_await port->load(path, from, call.context);
        if (!source) {
            const error& cause = source.error();
            if (cause.is_cancelled()) co_return cause;
            co_return error(lang::errc::evaluation, "import: " + cause.message())
                .with_hint(cause.info().hint)
                .with_cause(cause);
        }
        lang::heap& memory = call.session.memory();
        import_table& files = call.session.imports();
        for (;;) {
            const import_table::state now = files.state_of(source->name);
            if (now == import_table::state::done)
                co_return entry(memory, value::empty_map(), "value", files.value_of(source->name));
            std::string circle;
            if (!files.add_need(from, source->name, circle)) {
                co_return error(lang::errc::evaluation,
                                "import: files import each other in a circle: " + circle)
                    .with_hint("move what both need to a file of its own");
            }
            if (now == import_table::state::absent) break;
            const need waiting(files, from, source->name);
            const coro::wake woken = co_await files.changed(source->name, call.context);
            if (woken == coro::wake::cancelled)
                co_return error::cancelled(call.context.cancel->reason());
            if (woken == coro::wake::timed_out) co_return error::cancelled(cancel_reason::deadline);
        }
        // From here on the turn answers for the need and for the entry of the file, whatever comes.
        value created =
            entry(memory, value::empty_map(), "turn", turn_for(files, memory, source->name, from));
        created =
            entry(memory, std::move(created), "name", lang::make_string(memory, source->name));
        co_return entry(memory, std::move(created), "text",
                        lang::make_string(memory, source->text));
    }

private:
    /// A need that ends with the scope.
    class need {
    public:
        need(import_table& files, const std::string& importer, const std::string& file)
            : files_(files), importer_(importer), file_(file) {}
        need(const need&) = delete;
        need& operator=(const need&) = delete;
        ~need() { files_.remove_need(importer_, file_); }

    private:
        import_table& files_;
        const std::string& importer_;
        const std::string& file_;
    };

    static value turn_for(import_table& files, lang::heap& memory, const std::string& file,
                          const std::string& importer) {
        try {
            return files.begin(memory, file, importer);
        } catch (...) {
            files.remove_need(importer, file);
            throw;
        }
    }

    builtin row_{.name = "%import-begin",
                 .parameters = "path from",
                 .min_arguments = 2,
                 .max_arguments = 2,
                 .how = lang::builtin_kind::effect,
                 .summary = "Finds a file to import.",
                 .example = {},
                 .family = "world",
                 .waits_for_branches = true};
};

/// (%import-end turn value)
class import_end final : public effect_handler {
public:
    const builtin& row() const noexcept override { return row_; }
    replay_class replays() const noexcept override { return replay_class::redo; }

    coro::task<result<value>> run(effect_call call) override {
        auto& given = call.request.arguments;
        auto* turn = lang::host_as<import_table::turn>(given[0]);
        if (!turn) co_return error(lang::errc::type, "%import-end: argument 1 must be a turn");
        turn->finish(std::move(given[1]));
        co_return value();
    }

private:
    builtin row_{.name = "%import-end",
                 .parameters = "turn value",
                 .min_arguments = 2,
                 .max_arguments = 2,
                 .how = lang::builtin_kind::effect,
                 .summary = "Records the value of an imported file.",
                 .example = {},
                 .family = "world"};
};

} // namespace

std::vector<std::shared_ptr<effect_handler>> make_import_effects() {
    return {std::make_shared<import_begin>(), std::make_shared<import_end>()};
}

} // namespace heddle::host
