#include "source_diagnostics.hpp"

#include <heddle/base/diagnostic.hpp>
#include <heddle/lang/errors.hpp>

namespace heddle::cli {

void tell_source_error(const error& failure, const source_map& sources, console& output) {
    diagnostic_style style;
    style.colour = output.err_in_colour();
    output.err(render_diagnostic(lang::error_kind_name(failure), failure, sources, style));
}

} // namespace heddle::cli
