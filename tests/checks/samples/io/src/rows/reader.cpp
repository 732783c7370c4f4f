#include "fs/file.hpp"
