#include "host_services.hpp"

#include "file_adapter.hpp"
#include "memory_adapter.hpp"
#include "provider_adapter.hpp"
#include "text_digest.hpp"

#include <heddle/base/json_string.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/providers/prices/price_table.hpp>
#include <heddle/scripted/provider.hpp>
#include <heddle/setup/input_files.hpp>
#include <heddle/setup/program_imports.hpp>
#include <heddle/setup/service_set.hpp>
#include <heddle/setup/task_files.hpp>
#include <heddle/tasks/run/model_registry.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

namespace heddle::embed {

namespace {

class host_services final : public shard_services {
public:
    host_services(const runtime_options& options, coro::event_loop& loop, log_port& log,
                  shard_services* first)
        : options_(options), loop_(loop), log_(log), first_(first) {}

    result<void> open() {
        HEDDLE_CHECK(check_providers());
        HEDDLE_CHECK(open_configured());
        HEDDLE_CHECK(add_scripted());
        HEDDLE_CHECK(add_providers());
        if (!options_.model.empty()) HEDDLE_CHECK(models_.set_default(options_.model));
        if (options_.files) files_ = make_file_adapter(options_.files);
        if (options_.memory)
            memory_ = make_memory_adapter(options_.memory, {log_, options_.function_grace});
        if (options_.journal.is_set()) settings_digest_ = digest_of_settings();
        return {};
    }

    void add_to(tasks::task_system_parts& parts) override {
        if (configured_) parts = configured_->task_parts();
        else parts.prices = &prices_;
        parts.models = &models_;
        parts.budget_usd = {}; // each call has its own
        parts.max_calls = {};
        if (options_.workspace.empty()) {
            parts.memory = nullptr;
            parts.context = nullptr;
        }
        if (memory_) parts.memory = memory_.get();
    }

    void add_to(host::engine_parts& parts) override {
        if (files_) parts.files = files_.get();
        else if (configured_ && !options_.workspace.empty()) parts.files = &configured_->files();
    }

    std::unique_ptr<host::import_port> imports_of(const std::string& file) override {
        if (file.empty() && options_.workspace.empty()) return nullptr;
        std::string folder = options_.workspace;
        if (folder.empty()) folder = std::filesystem::path(file).parent_path().string();
        if (folder.empty()) folder = ".";
        auto created = setup::make_program_imports(file, folder, loop_);
        if (created) return *std::move(created);
        log_.write(log_level::warn, "imports", created.error().message());
        return nullptr;
    }

    [[nodiscard]] host::run_options bounds() const override {
        host::run_options usual;
        if (configured_) usual = configured_->bounds();
        usual.concurrency = options_.concurrency.value_or(usual.concurrency);
        usual.memory_limit = options_.memory_limit.value_or(usual.memory_limit);
        usual.step_limit = options_.step_limit.value_or(usual.step_limit);
        return usual;
    }

    setup::service_set* configured() noexcept override { return configured_.get(); }

    [[nodiscard]] const std::string& settings_digest() const noexcept override {
        return settings_digest_;
    }

    coro::task<void> close() override {
        if (configured_) co_await configured_->close();
    }

private:
    [[nodiscard]] std::string digest_of_settings() const {
        std::string all = options_.model + '\n' + std::to_string(bounds().concurrency) + '\n';
        if (!configured_) return digest_of_text(all);
        all += configured_->models().asked_settings() + '\n';
        if (const auto files = setup::template_files(configured_->template_places())) {
            for (const setup::template_place& file : *files) {
                if (const auto text = setup::read_template_file(file))
                    all += digest_of_text(*text) + '\n';
            }
        }
        return digest_of_text(all);
    }

    /// Tasks are to find them by their names.
    [[nodiscard]] result<void> check_providers() const {
        std::set<std::string> names;
        for (const auto& each : options_.providers) {
            const auto unusable = [](const std::string& what) {
                return error(errc::invalid_argument, "runtime_options::providers: " + what);
            };
            if (!each) return unusable("a provider is null");
            const std::string name = each->name();
            if (name.empty() || name.find(':') != std::string::npos) {
                return unusable("the name of a provider must not be empty or contain a colon: " +
                                json_string(utf8::shortened(name, 60)))
                    .with_hint("tasks name a model of it as NAME:MODEL");
            }
            if (!names.insert(name).second)
                return unusable("two providers have the name " +
                                json_string(utf8::shortened(name, 60)));
        }
        return {};
    }

    [[nodiscard]] bool names_provider_of_host() const {
        if (options_.model.starts_with("scripted:") && !options_.scripted_rules.empty())
            return true;
        return std::any_of(
            options_.providers.begin(), options_.providers.end(),
            [&](const auto& each) { return options_.model.starts_with(each->name() + ":"); });
    }

    /// What heddle.toml configures; nothing if there is none, and nothing else needs it.
    result<void> open_configured() {
        const bool is_given = !options_.config.empty() || !options_.config_text.empty();
        const bool has_config = is_given || options_.find_config || !options_.base_url.empty();
        if (!has_config && options_.workspace.empty() && options_.tasks.empty()) return {};
        setup::service_set_options wanted;
        if (has_config) wanted.variables = setup::environment::of_process();
        // The model is the program's choice; a variable of its user must not replace it.
        if (!options_.find_config) wanted.variables.model.reset();
        if (!options_.config.empty()) wanted.config_file = options_.config;
        else if (is_given || !options_.find_config) wanted.config_text = options_.config_text;
        if (!options_.base_url.empty()) wanted.services.base_url = options_.base_url;
        if (!options_.model.empty() && !names_provider_of_host())
            wanted.services.model = options_.model;
        if (!options_.workspace.empty()) wanted.workspace = options_.workspace;
        wanted.tasks = options_.tasks;
        if (first_) wanted.home = first_->configured();
        HEDDLE_TRY(configured_, setup::service_set::create(loop_, log_, std::move(wanted)));
        models_ = *configured_->task_parts().models;
        return {};
    }

    result<void> add_scripted() {
        if (options_.scripted_rules.empty()) return {};
        HEDDLE_TRY(auto rules, scripted::engine::parse(options_.scripted_rules, "scripted_rules"));
        const std::string model = rules->models().front();
        ports_.push_back(scripted::make_provider(std::move(rules), {}, log_));
        models_.add(*ports_.back());
        return models_.set_default("scripted:" + model);
    }

    result<void> add_providers() {
        for (const auto& each : options_.providers) {
            const bool is_first = ports_.empty();
            ports_.push_back(make_provider_adapter(each, {log_, options_.function_grace}));
            models_.add(*ports_.back());
            if (is_first) HEDDLE_CHECK(models_.set_default(each->name() + ":default"));
        }
        return {};
    }

    const runtime_options& options_;
    coro::event_loop& loop_;
    log_port& log_;
    shard_services* first_;
    providers::price_table prices_ = providers::price_table::built_in();
    std::unique_ptr<setup::service_set> configured_; ///< null: nothing is
    std::vector<std::unique_ptr<ports::llm_port>> ports_;
    tasks::model_registry models_;
    std::unique_ptr<ports::file_port> files_;
    std::unique_ptr<ports::memory_port> memory_;
    std::string settings_digest_;
};

} // namespace

result<std::unique_ptr<shard_services>> host_service_source::make(coro::event_loop& loop,
                                                                  log_port& log,
                                                                  shard_services* first) const {
    auto created = std::make_unique<host_services>(options_, loop, log, first);
    HEDDLE_CHECK(created->open());
    return created;
}

} // namespace heddle::embed
