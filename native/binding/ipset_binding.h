#pragma once

#include <napi.h>

namespace knp::binding {

// Adds what the addon offers for ipset to `exports`.
void InitIpset(Napi::Env env, Napi::Object exports);

}  // namespace knp::binding
