#pragma once

#include <napi.h>

namespace knp::binding {

// Adds what the addon offers for conntrack to `exports`.
void InitConntrack(Napi::Env env, Napi::Object exports);

}  // namespace knp::binding
