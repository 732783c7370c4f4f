#include "lang/machine/escaping_error.hpp"

#include "lang/print/form_text.hpp"
#include "lang/value/data_check.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/lang/work.hpp>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace heddle::lang {

namespace {

/// Of all the values that an error takes along, in units: 1 to 3 ms.
constexpr std::uint64_t max_work = 256 * 1024;

class bounded_work final : public work_meter {
public:
    bounded_work() noexcept : work_meter(max_work) {}

private:
    [[nodiscard]] bool pass() override {
        stopped_ = true;
        return false;
    }
    [[nodiscard]] bool foresee(std::uint64_t) override { return pass(); }
};

/// False: it is not data, or too much to tell.
[[nodiscard]] bool is_certain_data(const value& v, work_meter& work) {
    if (!v.is_object() && !v.is(kind::builtin)) return true; // also when there is no work left
    return is_data(v, work).value_or(false);
}

/// The value, or the text that shows it.
[[nodiscard]] value data_or_text(heap& memory, const value& v, work_meter& work) {
    return is_certain_data(v, work) ? v : make_string(memory, shown(v));
}

/// The arguments of (error …).
[[nodiscard]] value arguments_as_data(heap& memory, const value& data, work_meter& work) {
    if (!data.is(kind::list) || work.stopped()) return data_or_text(memory, data, work);
    std::vector<value> items;
    for (const value& each : list_items(data)) {
        items.push_back(data_or_text(memory, each, work));
        if (work.stopped()) return make_string(memory, shown(data));
    }
    return make_list(memory, items);
}

/// Nothing: the payload of the error is data, and its mark may stay.
[[nodiscard]] std::shared_ptr<script_payload> cleaned(heap& memory, const error& failure,
                                                      bool keeps_marks, work_meter& work) {
    const auto* payload = dynamic_cast<const script_payload*>(failure.info().payload.get());
    if (!payload) return nullptr;
    const bool has_data = is_certain_data(payload->data, work);
    const bool has_result = is_certain_data(payload->result, work);
    const bool has_mark = !keeps_marks && !payload->extent.is_nil();
    if (has_data && has_result && !has_mark) return nullptr;
    auto changed = std::make_shared<script_payload>(*payload);
    if (has_mark) changed->extent = {};
    if (!has_data) changed->data = arguments_as_data(memory, payload->data, work);
    if (!has_result) changed->result = data_or_text(memory, payload->result, work);
    return changed;
}

[[nodiscard]] error cleaned_chain(heap& memory, error failure, bool keeps_marks) {
    bounded_work work;
    std::vector<const error*> chain;
    for (const error* each = &failure; each; each = each->info().cause.get()) chain.push_back(each);
    std::optional<error> changed; // the innermost errors, as far as they are other ones now
    for (auto each = chain.rbegin(); each != chain.rend(); ++each) {
        std::shared_ptr<script_payload> payload = cleaned(memory, **each, keeps_marks, work);
        if (!payload && !changed) continue;
        error own = **each;
        if (changed) own = std::move(own).with_cause(*std::move(changed));
        if (payload) own = std::move(own).with_payload(std::move(payload));
        changed = std::move(own);
    }
    return changed ? *std::move(changed) : failure;
}

} // namespace

error with_data_only(heap& memory, error failure) {
    return cleaned_chain(memory, std::move(failure), true);
}

error without_references(heap& memory, error failure) {
    return cleaned_chain(memory, std::move(failure), false).with_payload(nullptr);
}

} // namespace heddle::lang
