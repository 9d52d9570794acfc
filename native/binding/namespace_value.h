// The network namespace of a client as a value of JavaScript, in which its watches are opened.
#pragma once

#include <napi.h>

#include <memory>
#include <string>

#include "netlink/network_namespace.h"
#include "netlink/status.h"

namespace knp::binding {

// The namespace that a client was opened in. It does not hold it: a closed client has no descriptor open,
// whenever JavaScript's values are collected.
struct OpenedIn {
  std::weak_ptr<const netlink::NetworkNamespace> network_namespace;
};

Napi::Value ToValue(Napi::Env env, const OpenedIn& opened);

// The network namespace that an argument names: a path, or a value that ToValue() has made.
class NamespaceArgument {
 public:
  // False after having thrown a TypeError, or the error of a client that was closed.
  bool Read(const Napi::CallbackInfo& info, size_t argument);
  // Off the event loop: a path is opened here.
  netlink::Status Open(netlink::SharedNamespace* out) const;

 private:
  std::string path_;
  netlink::SharedNamespace held_;
};

}  // namespace knp::binding
