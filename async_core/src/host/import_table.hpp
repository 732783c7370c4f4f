// The files that a run has imported.
#pragma once

#include <heddle/coro/wait_point.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/value.hpp>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::host {

/// Evaluates each file once per run: who imports a file that another branch is importing waits for
/// it.
/// Threads: the session's only.
class import_table : public std::enable_shared_from_this<import_table> {
public:
    enum class state { absent, loading, done };
    /// The right to evaluate a file, as a value of the program: when it goes unused, because
    /// whatever held it was cancelled or failed, the file is absent again and the next one may try.
    class turn;

    [[nodiscard]] state state_of(const std::string& file) const;
    [[nodiscard]] const lang::value& value_of(const std::string& file) const;

    /// The importing file needs the other from now on. False when that closes a circle; `circle`
    /// names the way around the circle then.
    [[nodiscard]] bool add_need(const std::string& importer, const std::string& file,
                                std::string& circle);
    void remove_need(const std::string& importer, const std::string& file) noexcept;

    /// An absent file is evaluated from now on, because `importer` needs it (add_need).
    [[nodiscard]] lang::value begin(lang::heap& memory, std::string file, std::string importer);
    /// Waits until the file is done or absent again.
    [[nodiscard]] coro::task<coro::wake> changed(std::string file, coro::call_context context);
    void clear() noexcept;

private:
    struct entry {
        state now = state::loading;
        lang::value result;
        std::vector<coro::wait_point*> waiting;
    };
    class waiter;
    void finish(const std::string& file, lang::value v);
    void forget(const std::string& file) noexcept;
    static void wake(entry& changed) noexcept;

    std::map<std::string, entry> files_;
    std::map<std::string, std::multiset<std::string>> needs_; ///< by the importing file
};

class import_table::turn final : public lang::host_object {
public:
    turn(std::weak_ptr<import_table> owner, std::string file, std::string importer)
        : owner_(std::move(owner)), file_(std::move(file)), importer_(std::move(importer)) {}
    ~turn() override;
    [[nodiscard]] std::string_view type_name() const noexcept override { return "import"; }
    /// The file has this value.
    void finish(lang::value v);

private:
    std::weak_ptr<import_table> owner_;
    std::string file_;
    std::string importer_;
};

} // namespace heddle::host
