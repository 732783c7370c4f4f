#include <heddle/setup/trust/consent_store.hpp>

#include <heddle/base/hex.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/fs/descriptor.hpp>
#include <heddle/setup/input_files.hpp>
#include <heddle/setup/trust/file_owner.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <tuple>

#include <fcntl.h>
#include <sys/file.h>

namespace heddle::setup {

namespace {

namespace json = boost::json;
namespace paths = std::filesystem;

constexpr std::size_t max_store_bytes = 4 << 20;

error damaged(const std::string& file) {
    return error(errc::io_error, file + ": is damaged, so that nothing is allowed")
        .with_hint("delete it, then allow anew what you want to: heddle trust --allow");
}

/// What follows the name of a string that is not UTF-8, as the name of a folder may be.
constexpr std::string_view in_hex = "_hex";

std::optional<std::string> text_member(const json::object& from, const std::string& name) {
    const auto text_at = [&](const std::string& member) -> std::optional<std::string> {
        const json::value* found = from.if_contains(member);
        const json::string* text = found ? found->if_string() : nullptr;
        if (!text) return std::nullopt;
        return std::string(text->data(), text->size());
    };
    if (auto text = text_at(name)) return text;
    const auto digits = text_at(name + std::string(in_hex));
    return digits ? bytes_of_hex(*digits) : std::nullopt;
}

void put_text(json::object& into, const std::string& name, const std::string& text) {
    if (utf8::is_valid(text)) {
        into[name] = text;
        return;
    }
    std::string out;
    append_hex(out, text);
    into[name + std::string(in_hex)] = out;
}

result<std::vector<consent>> parse(const std::string& text, const std::string& file) {
    boost::system::error_code failed;
    const json::value tree = json::parse(text, failed);
    const json::object* root = failed ? nullptr : tree.if_object();
    const json::value* allowed = root ? root->if_contains("allowed") : nullptr;
    const json::array* list = allowed ? allowed->if_array() : nullptr;
    if (!list) return damaged(file);
    std::vector<consent> consents;
    for (const json::value& each : *list) {
        const json::object* one = each.if_object();
        auto of = one ? text_member(*one, "file") : std::nullopt;
        auto address = one ? text_member(*one, "address") : std::nullopt;
        auto key = one ? text_member(*one, "key") : std::nullopt;
        if (!of || !address || !key) return damaged(file);
        auto parameters = text_member(*one, "parameters");
        if (!parameters && one->contains("parameters")) return damaged(file);
        consents.push_back({*std::move(of), *std::move(address), *std::move(key),
                            std::move(parameters).value_or(std::string())});
    }
    return consents;
}

std::string text_of(const std::vector<consent>& known) {
    json::array list;
    for (const consent& each : known) {
        json::object one;
        put_text(one, "file", each.file);
        put_text(one, "address", each.address);
        put_text(one, "key", each.key);
        if (!each.parameters.empty()) put_text(one, "parameters", each.parameters);
        list.push_back(std::move(one));
    }
    // heddle-check: allow raw-json (a file of ours, whose texts were checked)
    return json::serialize(json::object{{"allowed", std::move(list)}}) + "\n";
}

error cannot(const std::string& file, int number) {
    return error(errc::io_error, file + ": " + std::generic_category().message(number));
}

/// Keeps other processes from writing while it lives. They wait; nobody holds it for long.
class write_lock {
public:
    explicit write_lock(const std::string& file)
        : file_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
        if (!file_.open()) return;
        int outcome = 0;
        do outcome = ::flock(file_.get(), LOCK_EX);
        while (outcome != 0 && errno == EINTR);
        held_ = outcome == 0;
    }
    [[nodiscard]] bool held() const noexcept { return held_; }

private:
    fs::descriptor file_;
    bool held_ = false;
};

} // namespace

void consent_store::read() const {
    if (read_) return;
    read_ = true;
    known_.clear();
    problem_.reset();
    std::error_code failed;
    if (!file_ || !paths::exists(*file_, failed)) return;
    const std::string path = paths::absolute(*file_, failed).string();
    if (failed) {
        problem_ = cannot(*file_, failed.value());
        return;
    }
    const auto text = read_own_file(path, max_store_bytes);
    if (!text && text.error().code() == errc::invalid_argument) {
        problem_ = error(errc::invalid_argument,
                         *file_ + ": " + text.error().message() + ", so that nothing is allowed");
        return;
    }
    auto parsed = text ? parse(*text, *file_) : result<std::vector<consent>>(text.error());
    if (parsed) known_ = *std::move(parsed);
    else problem_ = std::move(parsed).error();
}

const std::vector<consent>& consent_store::all() const {
    read();
    return known_;
}

const std::optional<error>& consent_store::problem() const {
    read();
    return problem_;
}

bool consent_store::holds(const consent& wanted) const {
    const auto& known = all();
    return std::find(known.begin(), known.end(), wanted) != known.end();
}

template <class Change>
result<void> consent_store::change(Change&& what) {
    if (!file_) {
        return error(errc::invalid_argument,
                     "there is no location for permissions: HOME is not set");
    }
    std::error_code failed;
    paths::create_directories(paths::path(*file_).parent_path(), failed);
    if (failed) return cannot(*file_, failed.value());
    const write_lock alone(*file_ + ".lock");
    if (!alone.held()) return cannot(*file_ + ".lock", errno);
    read_ = false; // another process may have written meanwhile
    if (problem()) return *problem_;
    what(known_);
    std::sort(known_.begin(), known_.end(), [](const consent& one, const consent& other) {
        return std::tie(one.file, one.address, one.key, one.parameters) <
               std::tie(other.file, other.address, other.key, other.parameters);
    });
    auto written = write_private_file(*file_, text_of(known_));
    if (!written) read_ = false; // what the file has counts
    return written;
}

result<void> consent_store::allow(const std::vector<consent>& more) {
    return change([&](std::vector<consent>& known) {
        for (const consent& each : more) {
            if (std::find(known.begin(), known.end(), each) == known.end()) known.push_back(each);
        }
    });
}

consent_store consents_of(const environment& variables) {
    const auto folder = variables.state_folder();
    return consent_store(folder ? std::optional(*folder + "/trusted.json") : std::nullopt);
}

result<std::size_t> consent_store::revoke(std::string_view project_file) {
    std::size_t count = 0;
    HEDDLE_CHECK(change([&](std::vector<consent>& known) {
        count =
            std::erase_if(known, [&](const consent& each) { return each.file == project_file; });
    }));
    return count;
}

} // namespace heddle::setup
