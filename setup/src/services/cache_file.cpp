#include <heddle/setup/services/cache_file.hpp>

#include <filesystem>

namespace heddle::setup {

result<store::response_store_options> find_cache(const std::optional<std::string>& named,
                                                 const cache_config& settings,
                                                 const environment& variables) {
    const char* const hint = settings.enabled.value_or(false)
                                 ? "name a file in heddle.toml: `file` of [cache]"
                                 : "name a file with --cache-file";
    store::response_store_options options;
    if (settings.keep_for) options.keep_for = *settings.keep_for;
    if (settings.max_bytes) options.max_bytes = *settings.max_bytes;
    if (named) {
        options.file = *named;
    } else if (settings.file) {
        options.file = *settings.file;
    } else if (const auto folder = variables.cache_folder()) {
        std::error_code failed;
        std::filesystem::create_directories(*folder, failed);
        if (failed) {
            return error(errc::invalid_argument,
                         "the folder " + *folder +
                             " for the cache cannot be made: " + failed.message())
                .with_hint(hint);
        }
        options.file = *folder + "/responses.db";
    } else {
        return error(errc::invalid_argument, "there is no location for the cache: HOME is not set")
            .with_hint(hint);
    }
    return options;
}

} // namespace heddle::setup
