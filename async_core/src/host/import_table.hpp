// The files that a run has imported.
#pragma once

#include <heddle/coro/wait_point.hpp>
#include <heddle/lang/value.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace heddle::host {

/// Evaluates each file once per run: who imports a file that another branch is importing waits for it.
/// Threads: the session's only.
class import_table {
public:
    enum class state { absent, loading, done };

    [[nodiscard]] state state_of(const std::string& file) const;
    [[nodiscard]] const lang::value& value_of(const std::string& file) const;

    /// The importing file needs the other from now on. False when that closes a circle; `circle`
    /// tells the way round then.
    [[nodiscard]] bool add_need(const std::string& importer, const std::string& file,
                                std::string& circle);
    void remove_need(const std::string& importer, const std::string& file);

    void begin(const std::string& file);
    void finish(const std::string& file, lang::value v);
    /// It failed: the next one who imports it tries again.
    void forget(const std::string& file);
    /// Waits until the file is done or forgotten.
    [[nodiscard]] coro::task<coro::wake> changed(std::string file, coro::call_context context);

private:
    struct entry {
        state now = state::loading;
        lang::value result;
        std::vector<coro::wait_point*> waiting;
    };
    void wake(entry& changed);

    std::map<std::string, entry> files_;
    std::map<std::string, std::multiset<std::string>> needs_; ///< by the importing file
};

} // namespace heddle::host
