// The connection table as text: /proc/net/ip_vs_conn of a network namespace, for which netlink has no
// listing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "netlink/network_namespace.h"
#include "netlink/status.h"

namespace knp::ipvs {

// Bytes of one piece: the memory that a listing needs, however many connections there are.
constexpr size_t kConnectionsPiece = size_t{64} * 1024;

class ConnectionReader {
 public:
  // ENOENT without ip_vs or procfs.
  netlink::Status Open(const netlink::NetworkNamespace& network_namespace);
  // The next bytes of the text, as many as a piece has; fewer, or none, at the end only.
  netlink::Status Read(std::vector<uint8_t>* out);

 private:
  netlink::Descriptor file_;
};

}  // namespace knp::ipvs
