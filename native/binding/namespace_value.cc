#include "binding/namespace_value.h"

#include "binding/job.h"

namespace knp::binding {
namespace {

using Held = std::weak_ptr<const netlink::NetworkNamespace>;

// Tells our values from those of other addons. Random.
constexpr napi_type_tag kTag{0x6b8d1f0c2a974e35, 0x9c40b7e1d2583af6};

}  // namespace

Napi::Value ToValue(Napi::Env env, const OpenedIn& opened) {
  auto held = std::make_unique<Held>(opened.network_namespace);
  const auto external =
      Napi::External<Held>::New(env, held.get(), [](Napi::Env /*env*/, Held* data) { delete data; });
  // No value is made in an environment that ends.
  if (external.IsEmpty()) return {};
  held.release();
  external.TypeTag(&kTag);
  return external;
}

bool NamespaceArgument::Read(const Napi::CallbackInfo& info, size_t argument) {
  const Napi::Value value = info[argument];
  if (!value.IsExternal()) return ReadText(info, argument, &path_);
  const auto external = value.As<Napi::External<Held>>();
  if (!external.CheckTypeTag(&kTag)) return ReadText(info, argument, &path_);  // throws
  held_ = external.Data()->lock();
  if (held_) return true;
  ToError(info.Env(), netlink::Status::Of(netlink::FailureKind::kClosed)).ThrowAsJavaScriptException();
  return false;
}

netlink::Status NamespaceArgument::Open(netlink::SharedNamespace* out) const {
  if (!held_) return netlink::NetworkNamespace::Open(path_, out);
  *out = held_;
  return {};
}

}  // namespace knp::binding
