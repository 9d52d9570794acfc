// Registers the addon. It has no global state: every environment (main thread, worker thread) that loads the
// addon gets classes of its own, and all that they hold ends with the environment.
#include <napi.h>

#include "binding/classes.h"

namespace {

Napi::Object Init(Napi::Env /*env*/, Napi::Object exports) {
  knp::binding::InitBench(exports);
  knp::binding::InitConntrack(exports);
  knp::binding::InitIpset(exports);
  knp::binding::InitIpvs(exports);
  knp::binding::InitNetlink(exports);
  knp::binding::InitProcess(exports);
  knp::binding::InitRtnetlink(exports);
  return exports;
}

}  // namespace

NODE_API_MODULE(NODE_GYP_MODULE_NAME, Init)
