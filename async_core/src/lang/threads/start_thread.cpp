#include "start_thread.hpp"

namespace heddle::lang {

bool start_thread(pthread_t& thread, std::size_t stack_bytes, void* (*run)(void*),
                  void* argument) noexcept {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    const int failed = pthread_create(&thread, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return failed == 0;
}

} // namespace heddle::lang
