#include "binding/rtnetlink_binding.h"

namespace knp::binding {

void InitRtnetlink(Napi::Env /*env*/, Napi::Object /*exports*/) {}

}  // namespace knp::binding
