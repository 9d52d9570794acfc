// Clients and watches opened by the path of a network namespace, as the addon opens them.
#pragma once

#include <chrono>
#include <string>

#include "netlink/network_namespace.h"
#include "netlink/status.h"

namespace knp::test {

// Empty: the namespace of the thread.
template <typename Part>
netlink::Status OpenAt(const std::string& path, Part* part) {
  netlink::SharedNamespace network_namespace;
  netlink::Status status = netlink::NetworkNamespace::Open(path, &network_namespace);
  return status.ok() ? part->Open(network_namespace, std::chrono::seconds(5)) : status;
}

inline netlink::SharedNamespace Here() {
  netlink::SharedNamespace network_namespace;
  static_cast<void>(netlink::NetworkNamespace::Open("", &network_namespace));
  return network_namespace;
}

}  // namespace knp::test
