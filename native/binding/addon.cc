// Registers the addon. It has no global state: every environment (main thread, worker thread) that loads the
// addon gets classes of its own, and all that they hold ends with the environment.
#include <dlfcn.h>
#include <napi.h>

#include "binding/classes.h"

namespace {

// Keeps the library loaded when the last thread that uses it ends: a thread of a call, and the handler at the
// end of the process, may still run its code.
void StayLoaded() {
  Dl_info library{};
  if (dladdr(reinterpret_cast<void*>(&StayLoaded), &library) == 0) return;
  static_cast<void>(dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE));
}

Napi::Object Init(Napi::Env /*env*/, Napi::Object exports) {
  StayLoaded();
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
