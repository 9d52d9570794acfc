#include "binding/ipset_binding.h"

namespace knp::binding {

void InitIpset(Napi::Env /*env*/, Napi::Object /*exports*/) {}

}  // namespace knp::binding
