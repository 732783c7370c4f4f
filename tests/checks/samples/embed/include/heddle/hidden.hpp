// Without the attribute a program that links the shared library misses its functions.
#pragma once

namespace heddle { // expect: public-api

void turn();

} // namespace heddle
