#include "binding/ipvs_binding.h"

namespace knp::binding {

void InitIpvs(Napi::Env /*env*/, Napi::Object /*exports*/) {}

}  // namespace knp::binding
