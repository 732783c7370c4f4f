#include "request_capture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

using ::testing::HasSubstr;

// It printed 0.0000013499999999999998.
TEST(captured_requests, have_rounded_costs) {
    request_estimate estimate;
    estimate.input_tokens = 9;
    estimate.input_cost = 0.0000013499999999999998;
    EXPECT_THAT(captured_json(captured_request(), estimate, ""),
                HasSubstr(R"("input_tokens":9,"input_cost_usd":0.00000135,"max_cost_usd":null})"));
}

} // namespace
} // namespace heddle::cli
