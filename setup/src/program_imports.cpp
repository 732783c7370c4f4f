#include <heddle/setup/program_imports.hpp>

#include <heddle/fs/workspace_files.hpp>

#include <filesystem>
#include <system_error>

namespace heddle::setup {

namespace {

namespace paths = std::filesystem;

/// `path` below `folder`, or empty when it is not there.
paths::path below(const paths::path& path, const paths::path& folder) {
    const paths::path relative = path.lexically_relative(folder);
    if (relative.empty() || *relative.begin() == "..") return {};
    return relative;
}

class program_imports final : public host::import_port {
public:
    program_imports(std::shared_ptr<ports::file_port> files, std::string program,
                    paths::path inside, std::string prefix)
        : files_(std::move(files)), program_(std::move(program)), inside_(std::move(inside)),
          prefix_(std::move(prefix)) {}

    coro::task<result<host::imported_source>> load(std::string path, std::string from,
                                                   coro::call_context context) override {
        paths::path importer = from;
        if (from == program_) importer = inside_;
        else if (from.starts_with(prefix_)) importer = from.substr(prefix_.size());
        const std::string file = (importer.parent_path() / path).lexically_normal().string();
        result<std::string> text = co_await files_->read(file, context);
        if (!text) co_return std::move(text).error();
        co_return host::imported_source{prefix_ + file, *std::move(text)};
    }

private:
    std::shared_ptr<ports::file_port> files_;
    std::string program_;
    paths::path inside_; ///< the program's path below the root
    std::string prefix_; ///< put before paths below the root, where they are shown
};

} // namespace

result<std::unique_ptr<host::import_port>> make_program_imports(const std::string& program,
                                                                const std::string& workspace,
                                                                coro::event_loop& loop) {
    std::error_code failed;
    const bool is_file = !program.empty() && program.front() != '<';
    const paths::path root = paths::weakly_canonical(workspace, failed);
    const paths::path main =
        is_file ? paths::weakly_canonical(program, failed) : root / "program.heddle";
    paths::path inside = below(main, root);
    std::string folder = workspace;
    if (inside.empty()) {
        folder = paths::path(program).parent_path().string();
        if (folder.empty()) folder = "."; // a program of the current directory
        inside = main.filename();
    }
    auto files = fs::make_workspace_files(folder, loop);
    if (!files) return std::move(files).error();
    std::string prefix = folder == "." ? "" : (paths::path(folder) / "").string();
    return std::make_unique<program_imports>(*std::move(files), program, std::move(inside),
                                             std::move(prefix));
}

} // namespace heddle::setup
