#pragma once // expect: public-api

namespace HEDDLE_PUBLIC heddle {

void weave();

} // namespace heddle
